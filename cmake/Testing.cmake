# gt_test(<name> SOURCES ... DEPENDS <room>... [LINK ...]): a GoogleTest program under tests/; tests may lean on any room.
include(GoogleTest)
function(gt_test name)
  cmake_parse_arguments(ARG "" "" "SOURCES;DEPENDS;LINK;LABELS" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR})
  foreach(dep IN LISTS ARG_DEPENDS)
    string(REPLACE "/" "_" dep_target "gt_${dep}")
    target_link_libraries(${name} PRIVATE ${dep_target})
  endforeach()
  target_link_libraries(${name} PRIVATE gt_build_options GTest::gmock GTest::gtest_main ${ARG_LINK})
  set(timeout_s 120)
  if(GT_SANITIZE)
    set(timeout_s 900)
  endif()
  # PRE_TEST: sanitised programs need not run during the build.
  gtest_discover_tests(${name} DISCOVERY_MODE PRE_TEST DISCOVERY_TIMEOUT 60
    PROPERTIES TIMEOUT ${timeout_s} LABELS "${ARG_LABELS}")
endfunction()
