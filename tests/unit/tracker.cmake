if(TARGET gt_tracker_core)
  gt_test(tracker_core_test
    SOURCES ${CMAKE_CURRENT_LIST_DIR}/tracker_policy_test.cc ${CMAKE_CURRENT_LIST_DIR}/tracker_swarms_test.cc
    DEPENDS common ccm/domain tracker/core
    LABELS unit)
endif()
if(TARGET gt_tracker_store)
  gt_test(tracker_services_test
    SOURCES ${CMAKE_CURRENT_LIST_DIR}/tracker_services_test.cc ${CMAKE_CURRENT_LIST_DIR}/tracker_task_works_test.cc ${CMAKE_CURRENT_LIST_DIR}/tracker_node_life_test.cc ${CMAKE_CURRENT_LIST_DIR}/tracker_audiences_test.cc ${CMAKE_CURRENT_LIST_DIR}/tracker_store_test.cc
            ${CMAKE_CURRENT_LIST_DIR}/tracker_lists_test.cc
    DEPENDS common base/sql ccm/domain tracker/core tracker/store
    LINK gt_test_memory_store
    LABELS unit)
  # A program of its own: it counts what every connection of the process does.
  gt_test(tracker_work_test
    SOURCES ${CMAKE_CURRENT_LIST_DIR}/tracker_work_test.cc
    DEPENDS common base/sql ccm/domain tracker/core tracker/store
    LINK gt_test_memory_store SQLite::SQLite3
    LABELS unit)
endif()
if(TARGET gt_tracker_app)
  gt_test(tracker_app_test
    SOURCES ${CMAKE_CURRENT_LIST_DIR}/tracker_memory_test.cc
    DEPENDS tracker/app
    LABELS unit)
endif()
