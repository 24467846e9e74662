# GT_FUZZ (with clang) adds a libFuzzer program a target; without it the same targets replay their corpus under GoogleTest.
option(GT_FUZZ "build libFuzzer programs (clang)" OFF)
if(TARGET gt_metainfo AND TARGET gt_client_engine AND TARGET gt_client_remote AND TARGET gt_tracker_authority)
  set(gt_fuzz_targets ${CMAKE_CURRENT_LIST_DIR}/metainfo_targets.cc ${CMAKE_CURRENT_LIST_DIR}/crypto_targets.cc
      ${CMAKE_CURRENT_LIST_DIR}/rights_targets.cc ${CMAKE_CURRENT_LIST_DIR}/http2_targets.cc)
  gt_test(fuzz_replay_test
    SOURCES ${CMAKE_CURRENT_LIST_DIR}/fuzz_replay_test.cc ${gt_fuzz_targets}
    DEPENDS metainfo base/crypto base/http2 client/engine client/remote tracker/authority LABELS fuzz)
  target_compile_definitions(fuzz_replay_test PRIVATE GT_FUZZ_CORPUS="${CMAKE_CURRENT_LIST_DIR}/corpus")
  if(GT_FUZZ)
    foreach(target bencode metadata glob torrent certificate_request gt_message audience token http2_guard)
      add_executable(fuzz_${target} ${CMAKE_CURRENT_LIST_DIR}/libfuzzer_entry.cc ${gt_fuzz_targets})
      target_compile_definitions(fuzz_${target} PRIVATE GT_FUZZ_TARGET=${target})
      target_link_libraries(fuzz_${target} PRIVATE gt_build_options gt_metainfo gt_base_crypto gt_base_http2 gt_client_engine gt_client_remote
                            gt_tracker_authority)
      # The library code is covered too where the whole build has -fsanitize=fuzzer-no-link.
      target_compile_options(fuzz_${target} PRIVATE -fsanitize=fuzzer)
      target_link_options(fuzz_${target} PRIVATE -fsanitize=fuzzer)
      set_target_properties(fuzz_${target} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)
    endforeach()
  endif()
endif()
