if(TARGET gt_base_crypto)
  gt_test(digest_test SOURCES ${CMAKE_CURRENT_LIST_DIR}/digest_test.cc DEPENDS common base/crypto LABELS unit)
endif()
if(TARGET gt_metainfo)
  gt_test(metainfo_test
    SOURCES ${CMAKE_CURRENT_LIST_DIR}/bencode_test.cc ${CMAKE_CURRENT_LIST_DIR}/manifest_test.cc
            ${CMAKE_CURRENT_LIST_DIR}/merkle_test.cc ${CMAKE_CURRENT_LIST_DIR}/metainfo_test.cc
            ${CMAKE_CURRENT_LIST_DIR}/file_tree_test.cc ${CMAKE_CURRENT_LIST_DIR}/links_test.cc
    DEPENDS metainfo LABELS unit)
  gt_test(metainfo_libtorrent_test SOURCES ${CMAKE_CURRENT_LIST_DIR}/metainfo_libtorrent_test.cc
    DEPENDS metainfo LINK PkgConfig::TORRENT LABELS unit)
endif()
if(TARGET gt_client_files)
  gt_test(files_test
    SOURCES ${CMAKE_CURRENT_LIST_DIR}/files_publish_test.cc ${CMAKE_CURRENT_LIST_DIR}/files_verify_test.cc
            ${CMAKE_CURRENT_LIST_DIR}/files_staging_test.cc ${CMAKE_CURRENT_LIST_DIR}/files_fallback_test.cc
            ${CMAKE_CURRENT_LIST_DIR}/files_crash_test.cc ${CMAKE_CURRENT_LIST_DIR}/files_choice_test.cc
            ${CMAKE_CURRENT_LIST_DIR}/files_links_test.cc ${CMAKE_CURRENT_LIST_DIR}/files_reuse_test.cc
            ${CMAKE_CURRENT_LIST_DIR}/files_replace_test.cc ${CMAKE_CURRENT_LIST_DIR}/files_attack_test.cc
    DEPENDS client/files client/security LABELS unit)
  gt_test(files_rooted_test SOURCES ${CMAKE_CURRENT_LIST_DIR}/files_rooted_test.cc
    DEPENDS client/files client/security LABELS unit)
endif()
