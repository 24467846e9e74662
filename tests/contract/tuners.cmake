if(TARGET gt_client_tuning)
  gt_test(tuners_contract_test SOURCES ${CMAKE_CURRENT_LIST_DIR}/tuners_test.cc DEPENDS client/tuning)
endif()
