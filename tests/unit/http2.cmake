if(TARGET gt_base_http2)
  gt_test(http2_guard_test SOURCES ${CMAKE_CURRENT_LIST_DIR}/http2_guard_test.cc DEPENDS base/http2 LABELS unit)
endif()
