if(TARGET gt_base_rpc)
  gt_test(rpc_test SOURCES ${CMAKE_CURRENT_LIST_DIR}/rpc_test.cc ${CMAKE_CURRENT_LIST_DIR}/rpc_fair_test.cc DEPENDS base/rpc LABELS unit)
endif()
