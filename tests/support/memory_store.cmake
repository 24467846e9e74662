if(TARGET gt_tracker_store AND NOT TARGET gt_test_memory_store)
  add_library(gt_test_memory_store STATIC ${CMAKE_CURRENT_LIST_DIR}/memory_store.cc)
  target_link_libraries(gt_test_memory_store PUBLIC gt_tracker_store gt_tracker_core gt_ccm_domain gt_common PRIVATE gt_build_options)
endif()
