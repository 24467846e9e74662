# One ctest, so that what is searched for once (the best fixed plans) serves all assertions.
if(TARGET gt_client_tuning)
  set(sim ${CMAKE_CURRENT_LIST_DIR})
  add_executable(tuning_sim ${sim}/auto_test.cc ${sim}/baselines/baselines.cc ${sim}/baselines/harp.cc
    ${sim}/baselines/prob_data.cc ${sim}/baselines/script.cc ${sim}/goals_test.cc ${sim}/held_links.cc ${sim}/main.cc ${sim}/measured_rows_test.cc
    ${sim}/models_test.cc ${sim}/optimum.cc ${sim}/random_links.cc ${sim}/rate_network.cc ${sim}/runner.cc ${sim}/scenarios.cc ${sim}/table.cc ${sim}/transfer.cc
    ${sim}/window.cc ${sim}/window_network.cc)
  target_include_directories(tuning_sim PRIVATE ${PROJECT_SOURCE_DIR})
  target_link_libraries(tuning_sim PRIVATE gt_client_tuning gt_build_options GTest::gtest)
  set(timeout_s 300)  # 40 s of one core's time
  if(GT_SANITIZE)
    set(timeout_s 900)
  endif()
  add_test(NAME tuning_sim COMMAND tuning_sim)
  set_tests_properties(tuning_sim PROPERTIES TIMEOUT ${timeout_s} LABELS sim)
endif()
