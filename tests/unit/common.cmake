gt_test(common_test SOURCES ${CMAKE_CURRENT_SOURCE_DIR}/unit/common_test.cc DEPENDS common LABELS unit)
