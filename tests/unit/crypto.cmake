if(TARGET gt_base_crypto)
  gt_test(crypto_test SOURCES ${CMAKE_CURRENT_LIST_DIR}/crypto_test.cc ${CMAKE_CURRENT_LIST_DIR}/crypto_rights_test.cc DEPENDS base/crypto LABELS unit)
endif()
