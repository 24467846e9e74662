if(TARGET gt_client_remote AND TARGET gt_client_core AND TARGET gt_metainfo)
  gt_test(remote_test SOURCES ${CMAKE_CURRENT_LIST_DIR}/remote_test.cc ${CMAKE_CURRENT_LIST_DIR}/remote_credential_test.cc
            ${CMAKE_CURRENT_LIST_DIR}/remote_convert_test.cc ${CMAKE_CURRENT_LIST_DIR}/remote_support.cc
    DEPENDS client/remote client/core metainfo)
endif()
if(TARGET gt_client_api_server AND TARGET gt_metainfo)
  gt_test(api_server_test SOURCES ${CMAKE_CURRENT_LIST_DIR}/api_server_test.cc ${CMAKE_CURRENT_LIST_DIR}/remote_support.cc
    DEPENDS client/api/server metainfo)
endif()
