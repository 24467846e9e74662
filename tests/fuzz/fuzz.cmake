# GT_FUZZ (with clang) adds a libFuzzer program a target; without it the same targets replay their corpus under GoogleTest.
option(GT_FUZZ "build libFuzzer programs (clang)" OFF)
if(TARGET gt_metainfo)
  gt_test(fuzz_replay_test
    SOURCES ${CMAKE_CURRENT_LIST_DIR}/fuzz_replay_test.cc ${CMAKE_CURRENT_LIST_DIR}/metainfo_targets.cc
    DEPENDS metainfo LABELS fuzz)
  target_compile_definitions(fuzz_replay_test PRIVATE GT_FUZZ_CORPUS="${CMAKE_CURRENT_LIST_DIR}/corpus")
  if(GT_FUZZ)
    foreach(target bencode metadata glob torrent)
      add_executable(fuzz_${target} ${CMAKE_CURRENT_LIST_DIR}/libfuzzer_entry.cc ${CMAKE_CURRENT_LIST_DIR}/metainfo_targets.cc)
      target_compile_definitions(fuzz_${target} PRIVATE GT_FUZZ_TARGET=${target})
      target_link_libraries(fuzz_${target} PRIVATE gt_build_options gt_metainfo)
      # The library code is covered too where the whole build has -fsanitize=fuzzer-no-link.
      target_compile_options(fuzz_${target} PRIVATE -fsanitize=fuzzer)
      target_link_options(fuzz_${target} PRIVATE -fsanitize=fuzzer)
      set_target_properties(fuzz_${target} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)
    endforeach()
  endif()
endif()
