if(TARGET gt_client_core)
  gt_test(core_rules_test
    SOURCES ${CMAKE_CURRENT_LIST_DIR}/core_rules_test.cc
    DEPENDS client/core)
  gt_test(core_look_rule_test
    SOURCES ${CMAKE_CURRENT_LIST_DIR}/core_look_rule_test.cc
    DEPENDS client/core)
  gt_test(core_transfer_journal_test
    SOURCES ${CMAKE_CURRENT_LIST_DIR}/core_transfer_journal_test.cc
    DEPENDS client/core)
  gt_test(core_rate_log_test
    SOURCES ${CMAKE_CURRENT_LIST_DIR}/core_rate_log_test.cc
    DEPENDS client/core)
  gt_test(core_tuning_log_test
    SOURCES ${CMAKE_CURRENT_LIST_DIR}/core_tuning_log_test.cc
    DEPENDS client/core)
  gt_test(core_lasting_publish_test
    SOURCES ${CMAKE_CURRENT_LIST_DIR}/core_lasting_publish_test.cc
    DEPENDS client/core client/tuning)
  gt_test(core_update_test
    SOURCES ${CMAKE_CURRENT_LIST_DIR}/core_update_test.cc
    DEPENDS client/core client/tuning)
  gt_test(core_umask_test
    SOURCES ${CMAKE_CURRENT_LIST_DIR}/core_umask_test.cc
    DEPENDS client/core client/tuning)
  gt_test(core_node_test
    SOURCES ${CMAKE_CURRENT_LIST_DIR}/core_get_test.cc
            ${CMAKE_CURRENT_LIST_DIR}/core_get_again_test.cc
            ${CMAKE_CURRENT_LIST_DIR}/core_adopt_test.cc
            ${CMAKE_CURRENT_LIST_DIR}/core_disk_test.cc
            ${CMAKE_CURRENT_LIST_DIR}/core_remove_test.cc
            ${CMAKE_CURRENT_LIST_DIR}/core_get_swarm_test.cc
            ${CMAKE_CURRENT_LIST_DIR}/core_get_trouble_test.cc
            ${CMAKE_CURRENT_LIST_DIR}/core_addition_test.cc
            ${CMAKE_CURRENT_LIST_DIR}/core_looks_test.cc
            ${CMAKE_CURRENT_LIST_DIR}/core_lost_test.cc
            ${CMAKE_CURRENT_LIST_DIR}/core_rights_test.cc
            ${CMAKE_CURRENT_LIST_DIR}/core_sleep_test.cc
            ${CMAKE_CURRENT_LIST_DIR}/core_book_test.cc
            ${CMAKE_CURRENT_LIST_DIR}/core_choice_test.cc
            ${CMAKE_CURRENT_LIST_DIR}/core_claims_test.cc
            ${CMAKE_CURRENT_LIST_DIR}/core_estimate_test.cc
            ${CMAKE_CURRENT_LIST_DIR}/core_hidden_test.cc
            ${CMAKE_CURRENT_LIST_DIR}/core_history_test.cc
            ${CMAKE_CURRENT_LIST_DIR}/core_publish_test.cc
            ${CMAKE_CURRENT_LIST_DIR}/core_rates_test.cc
            ${CMAKE_CURRENT_LIST_DIR}/core_task_test.cc
            ${CMAKE_CURRENT_LIST_DIR}/core_limits_test.cc
            ${CMAKE_CURRENT_LIST_DIR}/core_steps_test.cc
            ${CMAKE_CURRENT_LIST_DIR}/core_tuner_test.cc
            ${CMAKE_CURRENT_LIST_DIR}/core_watch_test.cc
    DEPENDS client/core client/tuning)
  gt_test(core_limit_hours_test SOURCES ${CMAKE_CURRENT_LIST_DIR}/core_limit_hours_test.cc
    DEPENDS client/core client/tuning)
endif()
