if(TARGET gt_client_control AND TARGET gt_client_api_node AND TARGET gt_client_core)
  gt_test(control_test SOURCES ${CMAKE_CURRENT_LIST_DIR}/control_test.cc ${CMAKE_CURRENT_LIST_DIR}/control_convert_test.cc
            ${CMAKE_CURRENT_LIST_DIR}/control_status_test.cc ${CMAKE_CURRENT_LIST_DIR}/control_transfers_test.cc
    DEPENDS client/control client/api/node client/core)
  gt_test(api_node_test SOURCES ${CMAKE_CURRENT_LIST_DIR}/api_node_test.cc
    DEPENDS client/control client/api/node client/core)
endif()
