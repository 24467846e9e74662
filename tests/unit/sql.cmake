if(TARGET gt_base_sql)
  gt_test(sql_test SOURCES ${CMAKE_CURRENT_LIST_DIR}/sql_test.cc ${CMAKE_CURRENT_LIST_DIR}/sql_interrupt_test.cc DEPENDS common base/sql LABELS unit)
  # A program of its own: it puts a failing disk below SQLite for the whole process.
  gt_test(sql_fault_test
    SOURCES ${CMAKE_CURRENT_LIST_DIR}/sql_fault_test.cc
    DEPENDS common base/sql
    LINK SQLite::SQLite3
    LABELS unit)
endif()
