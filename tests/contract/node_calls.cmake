if(TARGET gt_client_control AND TARGET gt_client_api_node AND TARGET gt_client_core AND TARGET gt_client_tuning)
  gt_test(node_calls_test SOURCES ${CMAKE_CURRENT_LIST_DIR}/node_calls_test.cc
    DEPENDS client/control client/api/node client/core client/tuning LABELS contract)
endif()
