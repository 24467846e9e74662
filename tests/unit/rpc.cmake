if(TARGET gt_base_rpc)
  gt_test(rpc_test SOURCES ${CMAKE_CURRENT_LIST_DIR}/rpc_test.cc ${CMAKE_CURRENT_LIST_DIR}/rpc_fair_test.cc
            ${CMAKE_CURRENT_LIST_DIR}/rpc_turns_test.cc
    DEPENDS base/rpc LABELS unit)
endif()
if(TARGET gt_ccm_rpc AND TARGET gt_tracker_rpc)
  gt_test(rpc_methods_test SOURCES ${CMAKE_CURRENT_LIST_DIR}/rpc_methods_test.cc DEPENDS base/rpc ccm/rpc tracker/rpc LABELS unit)
  gt_test(rpc_file_lists_test SOURCES ${CMAKE_CURRENT_LIST_DIR}/rpc_file_lists_test.cc DEPENDS ccm/rpc metainfo
    LINK gt_test_memory_store LABELS unit)
  target_compile_definitions(rpc_methods_test PRIVATE GT_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
endif()
