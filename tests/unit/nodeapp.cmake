if(TARGET gt_client_store)
  gt_test(store_node_test
    SOURCES ${CMAKE_CURRENT_LIST_DIR}/store_node_test.cc ${CMAKE_CURRENT_LIST_DIR}/store_codec_test.cc
            ${CMAKE_CURRENT_LIST_DIR}/store_metadata_test.cc
    DEPENDS client/store)
endif()
if(TARGET gt_client_security)
  gt_test(nodeapp_security_test
    SOURCES ${CMAKE_CURRENT_LIST_DIR}/nodeapp_security_test.cc
    DEPENDS client/security)
endif()
if(TARGET gridtorrentd)
  set(app ${CMAKE_CURRENT_LIST_DIR}/../../client/app)
  gt_test(nodeapp_app_test
    SOURCES ${CMAKE_CURRENT_LIST_DIR}/nodeapp_app_test.cc ${CMAKE_CURRENT_LIST_DIR}/nodeapp_settings_test.cc
            ${CMAKE_CURRENT_LIST_DIR}/nodeapp_identity_test.cc ${app}/identity_keeper.cc ${app}/config.cc ${app}/cpu_quota.cc ${app}/data_dir.cc ${app}/log_bridge.cc
            ${app}/listen_addresses.cc ${app}/ready_file.cc ${app}/reload.cc ${app}/server_ca.cc ${app}/settings.cc
            ${app}/thread_load.cc
    DEPENDS client/core client/control client/engine client/remote client/security client/tuning base/options base/logging base/metrics base/crypto
    LINK nlohmann_json::nlohmann_json)
endif()
