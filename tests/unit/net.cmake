if(TARGET gt_base_net)
  gt_test(net_test
    SOURCES ${CMAKE_CURRENT_LIST_DIR}/net_test.cc ${CMAKE_CURRENT_LIST_DIR}/net_stranger_places_test.cc
            ${CMAKE_CURRENT_LIST_DIR}/net_connection_limits_test.cc
    DEPENDS base/net LINK OpenSSL::SSL LABELS unit)
endif()
