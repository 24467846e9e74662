if(TARGET gt_tracker_store)
  gt_test(stores_test
    SOURCES ${CMAKE_CURRENT_LIST_DIR}/stores_test.cc ${CMAKE_CURRENT_LIST_DIR}/stores_people_test.cc
            ${CMAKE_CURRENT_LIST_DIR}/stores_tracker_test.cc ${CMAKE_CURRENT_LIST_DIR}/access_property_test.cc
    DEPENDS common base/sql ccm/domain tracker/core tracker/store
    LINK gt_test_memory_store
    LABELS contract)
endif()
