if(TARGET gt_client_engine)
  gt_test(engine_test
    SOURCES
      ${CMAKE_CURRENT_LIST_DIR}/engine_test.cc
      ${CMAKE_CURRENT_LIST_DIR}/engine_congestion_test.cc
      ${CMAKE_CURRENT_LIST_DIR}/engine_disk_test.cc
      ${CMAKE_CURRENT_LIST_DIR}/engine_hostile_test.cc
      ${CMAKE_CURRENT_LIST_DIR}/engine_tls_test.cc
      ${CMAKE_CURRENT_LIST_DIR}/engine_limits_test.cc
      ${CMAKE_CURRENT_LIST_DIR}/engine_last_blocks_test.cc
      ${CMAKE_CURRENT_LIST_DIR}/engine_lab.cc
    DEPENDS common base/crypto client/engine
    LABELS integration)
  gt_test(engine_rooted_test
    SOURCES ${CMAKE_CURRENT_LIST_DIR}/engine_rooted_test.cc ${CMAKE_CURRENT_LIST_DIR}/engine_lab.cc
    DEPENDS common base/crypto client/engine
    LABELS integration)
  # libtorrent looks at LANG before it writes a name; names must not depend on it.
  add_test(NAME engine_names_in_c_locale COMMAND engine_test --gtest_filter=Names.*)
  set_tests_properties(engine_names_in_c_locale PROPERTIES ENVIRONMENT "LANG=C;LC_ALL=C" LABELS integration TIMEOUT 60)
endif()
