if(TARGET gt_tracker_app)
  include(${CMAKE_CURRENT_LIST_DIR}/../support/memory_store.cmake)
  gt_test(server_test
    SOURCES ${CMAKE_CURRENT_LIST_DIR}/server_auth_test.cc ${CMAKE_CURRENT_LIST_DIR}/server_content_test.cc
            ${CMAKE_CURRENT_LIST_DIR}/server_node_test.cc ${CMAKE_CURRENT_LIST_DIR}/server_start_test.cc
            ${CMAKE_CURRENT_LIST_DIR}/server_door_test.cc ${CMAKE_CURRENT_LIST_DIR}/server_access_test.cc
            ${CMAKE_CURRENT_LIST_DIR}/server_dialer_test.cc ${CMAKE_CURRENT_LIST_DIR}/server_endpoints_test.cc
            ${CMAKE_CURRENT_LIST_DIR}/server_lists_test.cc ${CMAKE_CURRENT_LIST_DIR}/server_invite_test.cc
            ${CMAKE_CURRENT_LIST_DIR}/server_recorded_test.cc
            ${CMAKE_CURRENT_LIST_DIR}/server_http2_probe.cc ${CMAKE_CURRENT_LIST_DIR}/server_lab.cc
    DEPENDS tracker/app client/api/server
    LINK OpenSSL::SSL nlohmann_json::nlohmann_json gt_test_memory_store LABELS integration)
  target_compile_definitions(server_test PRIVATE GT_RECORDED_DIR="${PROJECT_SOURCE_DIR}/tests/recorded")
  if(TARGET gt_client_cli AND TARGET gt_client_control AND TARGET gt_client_core)
    gt_test(cli_server_test SOURCES ${CMAKE_CURRENT_LIST_DIR}/cli_server_test.cc ${CMAKE_CURRENT_LIST_DIR}/server_lab.cc
      DEPENDS tracker/app client/cli client/control client/core LABELS integration)
  endif()
  gt_test(server_reads_test
    SOURCES ${CMAKE_CURRENT_LIST_DIR}/server_reads_test.cc
    DEPENDS base/rpc tracker/rpc tracker/store
    LINK gt_test_memory_store LABELS integration)
  find_package(Python3 COMPONENTS Interpreter)
  if(Python3_FOUND)
    add_test(NAME server_process
      COMMAND Python3::Interpreter ${CMAKE_CURRENT_LIST_DIR}/server_process_test.py $<TARGET_FILE:gridtorrent-server>)
    set_tests_properties(server_process PROPERTIES TIMEOUT 300 LABELS integration)
  endif()
endif()
