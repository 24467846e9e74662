if(TARGET gt_base_rpc)
  gt_test(tls_server_test SOURCES ${CMAKE_CURRENT_LIST_DIR}/tls_server_flood_test.cc
    DEPENDS base/rpc LINK OpenSSL::SSL LABELS integration)
endif()
