if(TARGET gt_client_engine)
  gt_test(engine_unit_test SOURCES ${CMAKE_CURRENT_LIST_DIR}/engine_wire_test.cc ${CMAKE_CURRENT_LIST_DIR}/engine_loss_events_test.cc
          ${CMAKE_CURRENT_LIST_DIR}/engine_rules_test.cc ${CMAKE_CURRENT_LIST_DIR}/engine_congestion_test.cc
    ${CMAKE_CURRENT_LIST_DIR}/engine_listen_test.cc
    ${CMAKE_CURRENT_LIST_DIR}/engine_load_test.cc
    ${CMAKE_CURRENT_LIST_DIR}/engine_half_open_test.cc
    ${CMAKE_CURRENT_LIST_DIR}/engine_disk_hash_test.cc
    ${CMAKE_CURRENT_LIST_DIR}/engine_request_depth_test.cc
    ${CMAKE_CURRENT_LIST_DIR}/engine_request_pacer_test.cc
    ${CMAKE_CURRENT_LIST_DIR}/engine_rate_window_test.cc
    ${CMAKE_CURRENT_LIST_DIR}/engine_fair_shares_test.cc
    ${CMAKE_CURRENT_LIST_DIR}/engine_asked_blocks_test.cc
    ${CMAKE_CURRENT_LIST_DIR}/engine_last_blocks_test.cc
    ${CMAKE_CURRENT_LIST_DIR}/engine_turns_test.cc
    ${CMAKE_CURRENT_LIST_DIR}/engine_nagle_test.cc
    ${CMAKE_CURRENT_LIST_DIR}/engine_round_clock_test.cc
    ${CMAKE_CURRENT_LIST_DIR}/engine_unread_acks_test.cc
    ${CMAKE_CURRENT_LIST_DIR}/engine_network_loop_test.cc
    ${CMAKE_CURRENT_LIST_DIR}/engine_shared_rate_test.cc
    ${CMAKE_CURRENT_LIST_DIR}/engine_held_reads_test.cc
    ${CMAKE_CURRENT_LIST_DIR}/engine_standing_test.cc
    ${CMAKE_CURRENT_LIST_DIR}/engine_proof_test.cc
    ${CMAKE_CURRENT_LIST_DIR}/engine_mover_test.cc
    ${CMAKE_CURRENT_LIST_DIR}/engine_table_test.cc
    DEPENDS common base/crypto client/engine)
endif()
