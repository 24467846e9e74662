if(TARGET gt_client_plan)
  gt_test(plan_test SOURCES ${CMAKE_CURRENT_LIST_DIR}/plan_wish_test.cc DEPENDS client/plan)
endif()
if(TARGET gt_client_tuning)
  gt_test(tuning_test
    SOURCES ${CMAKE_CURRENT_LIST_DIR}/tuning_diagnosis_test.cc ${CMAKE_CURRENT_LIST_DIR}/tuning_fixed_test.cc ${CMAKE_CURRENT_LIST_DIR}/tuning_meter_test.cc
            ${CMAKE_CURRENT_LIST_DIR}/tuning_need_test.cc ${CMAKE_CURRENT_LIST_DIR}/tuning_start_test.cc ${CMAKE_CURRENT_LIST_DIR}/tuning_chosen_test.cc ${CMAKE_CURRENT_LIST_DIR}/tuning_goal_test.cc
            ${CMAKE_CURRENT_LIST_DIR}/tuning_refinement_test.cc ${CMAKE_CURRENT_LIST_DIR}/tuning_proof_test.cc ${CMAKE_CURRENT_LIST_DIR}/tuning_history_test.cc ${CMAKE_CURRENT_LIST_DIR}/tuning_estimate_test.cc
            ${CMAKE_CURRENT_LIST_DIR}/tuning_congestion_test.cc
    DEPENDS client/tuning)
  gt_test(tuning_published_test
    SOURCES ${CMAKE_CURRENT_LIST_DIR}/tuning_e2e_test.cc
            ${CMAKE_CURRENT_LIST_DIR}/tuning_fstream_test.cc
            ${CMAKE_CURRENT_LIST_DIR}/tuning_mc_test.cc
            ${CMAKE_CURRENT_LIST_DIR}/tuning_pcp_test.cc
            ${CMAKE_CURRENT_LIST_DIR}/tuning_search_test.cc
    DEPENDS client/tuning)
endif()
