if(TARGET gt_bench_wan)
  gt_test(wan_unit_test SOURCES ${CMAKE_CURRENT_LIST_DIR}/wan_test.cc DEPENDS common LINK gt_bench_wan)
endif()
