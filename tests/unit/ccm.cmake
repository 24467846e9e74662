if(TARGET gt_ccm_domain)
  gt_test(ccm_domain_test
    SOURCES ${CMAKE_CURRENT_LIST_DIR}/ccm_names_test.cc ${CMAKE_CURRENT_LIST_DIR}/ccm_policy_test.cc
            ${CMAKE_CURRENT_LIST_DIR}/ccm_group_test.cc ${CMAKE_CURRENT_LIST_DIR}/ccm_consents_test.cc
    DEPENDS common ccm/domain
    LABELS unit)
endif()
if(TARGET gt_tracker_store)
  gt_test(ccm_services_test
    SOURCES ${CMAKE_CURRENT_LIST_DIR}/ccm_content_service_test.cc ${CMAKE_CURRENT_LIST_DIR}/ccm_account_service_test.cc
            ${CMAKE_CURRENT_LIST_DIR}/ccm_content_describe_test.cc
            ${CMAKE_CURRENT_LIST_DIR}/ccm_group_service_test.cc ${CMAKE_CURRENT_LIST_DIR}/ccm_handover_test.cc
            ${CMAKE_CURRENT_LIST_DIR}/ccm_metadata_quota_test.cc ${CMAKE_CURRENT_LIST_DIR}/ccm_audience_test.cc
            ${CMAKE_CURRENT_LIST_DIR}/ccm_invite_test.cc ${CMAKE_CURRENT_LIST_DIR}/ccm_versions_test.cc
    DEPENDS common base/sql ccm/domain tracker/core tracker/store
    LINK gt_test_memory_store
    LABELS unit)
endif()
