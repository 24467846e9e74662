if(TARGET gt_tracker_authority)
  gt_test(authority_test SOURCES ${CMAKE_CURRENT_LIST_DIR}/authority_test.cc DEPENDS tracker/authority LABELS unit)
endif()
if(TARGET gt_tracker_authority AND TARGET gt_tracker_store)
  gt_test(authority_data_ca_test SOURCES ${CMAKE_CURRENT_LIST_DIR}/authority_data_ca_test.cc
    DEPENDS base/crypto base/sql ccm/domain tracker/core tracker/store tracker/authority
    LINK gt_test_memory_store LABELS unit)
endif()
