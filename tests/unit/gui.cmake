if(TARGET gt_gui_views)
  add_library(gt_test_desktop OBJECT ${CMAKE_CURRENT_SOURCE_DIR}/support/desktop.cc)
  target_link_libraries(gt_test_desktop PRIVATE gt_build_options gt_qt GTest::gtest)
  gt_test(gui_models_test
    SOURCES ${CMAKE_CURRENT_LIST_DIR}/gui_format_test.cc ${CMAKE_CURRENT_LIST_DIR}/gui_models_test.cc
            ${CMAKE_CURRENT_LIST_DIR}/gui_choice_test.cc ${CMAKE_CURRENT_LIST_DIR}/gui_publish_test.cc
            ${CMAKE_CURRENT_LIST_DIR}/gui_transfers_model_test.cc
    DEPENDS common metainfo gui/models
    LINK gt_test_desktop gt_qt Qt6::Test)
  gt_test(gui_plots_test SOURCES ${CMAKE_CURRENT_LIST_DIR}/gui_plots_test.cc
    DEPENDS common gui/plots
    LINK gt_test_desktop gt_qt Qt6::Test)
  gt_test(gui_views_test
    SOURCES ${CMAKE_CURRENT_LIST_DIR}/gui_keys_test.cc ${CMAKE_CURRENT_LIST_DIR}/gui_publish_dialog_test.cc ${CMAKE_CURRENT_LIST_DIR}/gui_views_test.cc
    DEPENDS common gui/models gui/plots gui/views
    LINK gt_test_desktop gt_qt Qt6::Test)
  # Built on demand, to look at: ninja gui_pictures
  add_executable(gui_pictures EXCLUDE_FROM_ALL ${CMAKE_CURRENT_SOURCE_DIR}/support/gui_pictures.cc)
  target_include_directories(gui_pictures PRIVATE ${PROJECT_SOURCE_DIR})
  target_link_libraries(gui_pictures PRIVATE gt_build_options gt_gui_views gt_qt)
  if(TARGET gt_gui_session AND TARGET gt_client_control)
    gt_test(gui_session_test
      SOURCES ${CMAKE_CURRENT_LIST_DIR}/gui_session_test.cc ${CMAKE_CURRENT_LIST_DIR}/remote_support.cc
      DEPENDS common gui/models gui/session client/control client/core client/profile metainfo
      LINK gt_test_desktop gt_qt Qt6::Test)
  endif()
endif()
