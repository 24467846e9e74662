if(TARGET gt_tracker_authority)
  gt_test(authority_test SOURCES ${CMAKE_CURRENT_LIST_DIR}/authority_test.cc DEPENDS tracker/authority LABELS unit)
endif()
