if(TARGET gt_base_logging AND TARGET gt_base_metrics)
  gt_test(logging_test SOURCES ${CMAKE_CURRENT_LIST_DIR}/logging_test.cc DEPENDS base/logging base/metrics LABELS unit)
endif()
