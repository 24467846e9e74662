if(TARGET gt_client_cli)
  gt_test(cli_test
    SOURCES ${CMAKE_CURRENT_LIST_DIR}/cli_test.cc ${CMAKE_CURRENT_LIST_DIR}/cli_json_test.cc
            ${CMAKE_CURRENT_LIST_DIR}/cli_view_test.cc ${CMAKE_CURRENT_LIST_DIR}/cli_doctor_test.cc
            ${CMAKE_CURRENT_LIST_DIR}/cli_people_test.cc
            ${CMAKE_CURRENT_LIST_DIR}/cli_tuning_test.cc ${CMAKE_CURRENT_LIST_DIR}/cli_plot_test.cc
            ${CMAKE_CURRENT_LIST_DIR}/cli_wishes_test.cc ${CMAKE_CURRENT_LIST_DIR}/cli_names_test.cc
            ${CMAKE_CURRENT_LIST_DIR}/cli_words_test.cc ${CMAKE_CURRENT_LIST_DIR}/cli_files_test.cc
            ${CMAKE_CURRENT_LIST_DIR}/cli_completing_test.cc ${CMAKE_CURRENT_LIST_DIR}/cli_access_test.cc
            ${CMAKE_CURRENT_LIST_DIR}/cli_local_node_test.cc
    DEPENDS client/cli)
endif()

if(TARGET gt_client_cli AND TARGET gt_client_control AND TARGET gt_client_core)
  gt_test(cli_node_test SOURCES ${CMAKE_CURRENT_LIST_DIR}/cli_node_test.cc ${CMAKE_CURRENT_LIST_DIR}/cli_publish_test.cc
            ${CMAKE_CURRENT_LIST_DIR}/cli_watch_test.cc
    DEPENDS client/cli client/control client/core)
endif()
