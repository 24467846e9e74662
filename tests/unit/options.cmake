if(TARGET gt_base_options)
  gt_test(options_test
    SOURCES ${CMAKE_CURRENT_LIST_DIR}/options_test.cc ${CMAKE_CURRENT_LIST_DIR}/options_render_test.cc
    DEPENDS common base/options)
endif()
