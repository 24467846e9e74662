# Precompiled headers, shared by all rooms and tests: headers of others that many files include and that never change
# between two builds. No header of ours is in here, so that an edit compiles what includes it and nothing else.
# A source still includes what it uses: the preset `dev` compiles without precompiled headers.
option(GT_PRECOMPILED "share precompiled headers of the standard library, gRPC, libtorrent and GoogleTest" ON)

set(GT_STANDARD_HEADERS
  <algorithm> <array> <atomic> <cerrno> <charconv> <chrono> <condition_variable> <cstdint> <cstdlib> <cstring> <deque> <filesystem>
  <fstream> <functional> <limits> <map> <memory> <mutex> <optional> <set> <span> <sstream> <stop_token> <string> <string_view> <thread>
  <unordered_map> <utility> <variant> <vector>)
set(GT_RPC_HEADERS <grpcpp/grpcpp.h> <google/protobuf/message.h> <google/protobuf/map_field.h>)
set(GT_TORRENT_HEADERS
  <libtorrent/alert_types.hpp> <libtorrent/extensions.hpp> <libtorrent/peer_connection_handle.hpp> <libtorrent/session.hpp>
  <libtorrent/torrent_handle.hpp>)
set(GT_DESKTOP_HEADERS <QAbstractItemModel> <QBoxLayout> <QLabel> <QPainter> <QString> <QWidget>)
set(GT_TEST_HEADERS <gmock/gmock.h> <gtest/gtest.h>)

# One target a set compiles it, and the others reuse it. This needs equal flags (see -fPIC in CMakeLists.txt).
function(gt_add_precompiled set)
  cmake_parse_arguments(ARG "" "" "HEADERS;LINK" ${ARGN})
  file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/precompiled/${set}.cc CONTENT "// The headers alone.\n")
  add_library(gt_precompiled_${set} OBJECT EXCLUDE_FROM_ALL ${CMAKE_BINARY_DIR}/precompiled/${set}.cc)
  target_link_libraries(gt_precompiled_${set} PRIVATE gt_build_options ${ARG_LINK})
  target_precompile_headers(gt_precompiled_${set} PRIVATE ${GT_STANDARD_HEADERS} ${ARG_HEADERS})
  # No two compilations of a precompiled header are the same byte for byte. So that what one clone compiled serves the next,
  # ccache reads this instead (CCACHE_PCH_EXTSUM in ./dev): what the header is made of. The flags it compares itself.
  file(WRITE ${CMAKE_BINARY_DIR}/CMakeFiles/gt_precompiled_${set}.dir/cmake_pch.hxx.gch.sum
    "${CMAKE_CXX_COMPILER_ID} ${CMAKE_CXX_COMPILER_VERSION} gRPC ${gRPC_VERSION} protobuf ${Protobuf_VERSION} "
    "libtorrent ${TORRENT_VERSION} Qt ${Qt6_VERSION} GoogleTest ${GTest_VERSION} ${GT_STANDARD_HEADERS} ${ARG_HEADERS}\n")
endfunction()

if(GT_PRECOMPILED)
  gt_add_precompiled(standard)
  gt_add_precompiled(rpc HEADERS ${GT_RPC_HEADERS} LINK gRPC::grpc++ protobuf::libprotobuf)
  gt_add_precompiled(torrent HEADERS ${GT_TORRENT_HEADERS} LINK PkgConfig::TORRENT)
  if(GT_DESKTOP)
    gt_add_precompiled(desktop HEADERS ${GT_DESKTOP_HEADERS} LINK gt_qt)
  endif()
  if(BUILD_TESTING)
    gt_add_precompiled(test_standard HEADERS ${GT_TEST_HEADERS} LINK GTest::gmock)
    gt_add_precompiled(test_rpc HEADERS ${GT_TEST_HEADERS} ${GT_RPC_HEADERS} LINK GTest::gmock gRPC::grpc++ protobuf::libprotobuf)
    gt_add_precompiled(test_torrent HEADERS ${GT_TEST_HEADERS} ${GT_TORRENT_HEADERS} LINK GTest::gmock PkgConfig::TORRENT)
    if(GT_DESKTOP)
      gt_add_precompiled(test_desktop HEADERS ${GT_TEST_HEADERS} ${GT_DESKTOP_HEADERS} LINK GTest::gmock gt_qt)
    endif()
  endif()
endif()

# gt_use_precompiled(<target> <prefix: empty or test_> <rooms and libraries that the target leans on>...): the fitting set.
function(gt_use_precompiled target prefix)
  if(NOT GT_PRECOMPILED)
    return()
  endif()
  set(set standard)
  foreach(dep IN LISTS ARGN)
    if(dep MATCHES "^(proto|base/rpc|.*/rpc|tracker/app|client/remote|client/control|client/api/.*|client/doctor|client/cli|client/app)$")
      set(set rpc)
      break()
    elseif(dep MATCHES "^(gui/.*|gt_qt)$")
      set(set desktop)
    elseif(dep MATCHES "^(client/engine|PkgConfig::TORRENT)$")
      set(set torrent)
    endif()
  endforeach()
  target_precompile_headers(${target} REUSE_FROM gt_precompiled_${prefix}${set})
endfunction()
