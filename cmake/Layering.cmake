# The rooms of the house and who may lean on whom. A new edge is a new line here, and so a visible decision;
# gt_room() stops configure on an edge that is not listed, and tests/lint/check_layering.py reads this same table
# to check every #include, since link edges alone catch no header.
#
# gt_allow(<room> <room>...): the first may depend on the others. The table must stay a DAG.

set(GT_ROOMS "" CACHE INTERNAL "")

function(gt_allow room)
  set(GT_ROOMS "${GT_ROOMS};${room}" CACHE INTERNAL "")
  set("GT_ALLOWED_${room}" "${ARGN}" CACHE INTERNAL "")
endfunction()

gt_allow(common)
gt_allow(proto)

gt_allow(base/options common)
gt_allow(base/logging common)
gt_allow(base/metrics common)
gt_allow(base/crypto  common)
gt_allow(base/sql     common)
gt_allow(base/http2   common)
gt_allow(base/net     common base/crypto)
gt_allow(base/rpc     common proto base/options base/logging base/metrics base/crypto base/sql base/http2 base/net)

gt_allow(metainfo common base/crypto)

gt_allow(ccm/domain common)
gt_allow(ccm/rpc    ccm/domain metainfo proto base/rpc common base/logging base/metrics)

gt_allow(tracker/core      common ccm/domain metainfo)
gt_allow(tracker/authority common base/crypto ccm/domain tracker/core base/logging base/metrics)
gt_allow(tracker/store     common base/crypto base/sql ccm/domain tracker/core base/logging base/metrics)
gt_allow(tracker/rpc       common tracker/core tracker/authority ccm/domain proto base/rpc metainfo base/logging base/metrics)
gt_allow(tracker/app       common tracker/core tracker/authority tracker/store tracker/rpc ccm/domain ccm/rpc metainfo proto
                           base/options base/logging base/metrics base/crypto base/sql base/rpc)

gt_allow(client/plan     common)
gt_allow(client/tuning   common client/plan)
gt_allow(client/core     common client/plan client/tuning metainfo)
gt_allow(client/security common base/crypto client/core base/logging base/metrics)
gt_allow(client/store    common base/sql client/core base/logging base/metrics)
gt_allow(client/files    common metainfo base/crypto client/core base/logging base/metrics)
gt_allow(client/engine   common metainfo base/crypto client/plan client/core client/security base/logging base/metrics)
gt_allow(client/remote   common proto base/rpc client/core base/logging base/metrics)
gt_allow(client/control  common proto base/rpc client/plan client/core base/logging base/metrics)
gt_allow(client/api/call   common base/rpc)
gt_allow(client/api/server common proto base/crypto base/rpc metainfo base/logging base/metrics client/api/call)
gt_allow(client/api/node   common proto base/rpc base/logging base/metrics client/api/call)
gt_allow(client/profile  common)
gt_allow(client/service  common client/profile)
gt_allow(client/doctor   common proto)
gt_allow(client/cli      common base/options base/logging base/metrics client/plan client/profile client/service client/doctor client/api/server client/api/node)
gt_allow(client/app      common metainfo proto client/plan client/tuning client/core client/store client/files client/security client/engine
                         client/remote client/control
                         base/options base/logging base/metrics base/crypto base/sql base/rpc)

gt_allow(gui/models common)
gt_allow(gui/plots  common gui/models)
gt_allow(gui/views  common gui/models gui/plots)
gt_allow(gui/session common proto client/api/call client/api/node client/api/server client/profile gui/models)
gt_allow(gui/app    common proto base/options client/api/call client/api/node client/api/server client/profile
                    gui/models gui/plots gui/views gui/session)

# gt_room(<room> SOURCES a.cc b.cc ... DEPENDS <room>... [LINK <third-party target>...])
# Makes the static library gt_<room with _ for /> from the sources in the current folder (none: header-only).
function(gt_room room)
  cmake_parse_arguments(ARG "" "" "SOURCES;DEPENDS;LINK" ${ARGN})
  if(NOT room IN_LIST GT_ROOMS)
    message(FATAL_ERROR "${room} is not in the table of cmake/Layering.cmake")
  endif()
  string(REPLACE "/" "_" target "gt_${room}")
  if(ARG_SOURCES)
    add_library(${target} STATIC ${ARG_SOURCES})
    gt_use_precompiled(${target} "" ${room} ${ARG_DEPENDS} ${ARG_LINK})
    set(scope PUBLIC)
    target_link_libraries(${target} PRIVATE gt_build_options)
  else()
    add_library(${target} INTERFACE)
    set(scope INTERFACE)
  endif()
  target_include_directories(${target} ${scope} ${PROJECT_SOURCE_DIR})
  foreach(dep IN LISTS ARG_DEPENDS)
    gt_check_edge(${room} ${dep})
    string(REPLACE "/" "_" dep_target "gt_${dep}")
    target_link_libraries(${target} ${scope} ${dep_target})
  endforeach()
  target_link_libraries(${target} ${scope} ${ARG_LINK})
endfunction()

# gt_optimise_less(<target>...): what does no work that its user waits for compiles in four fifths of the time.
function(gt_optimise_less)
  foreach(target IN LISTS ARGN)
    target_compile_options(${target} PRIVATE $<$<CONFIG:RelWithDebInfo,Release>:-O1>)
  endforeach()
endfunction()

# gt_program(<name> ROOM <room> SOURCES ... DEPENDS ...): an executable that belongs to a room, under the same rule.
function(gt_program name)
  cmake_parse_arguments(ARG "" "ROOM" "SOURCES;DEPENDS;LINK" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  gt_use_precompiled(${name} "" ${ARG_DEPENDS} ${ARG_LINK})
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR})
  target_link_libraries(${name} PRIVATE gt_build_options ${ARG_LINK})
  foreach(dep IN LISTS ARG_DEPENDS)
    if(NOT dep STREQUAL ARG_ROOM)
      gt_check_edge(${ARG_ROOM} ${dep})
    endif()
    string(REPLACE "/" "_" dep_target "gt_${dep}")
    target_link_libraries(${name} PRIVATE ${dep_target})
  endforeach()
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)
endfunction()

function(gt_check_edge room dep)
  if(NOT dep IN_LIST GT_ALLOWED_${room})
    message(FATAL_ERROR "${room} may not depend on ${dep}: the edge is not in the table of cmake/Layering.cmake")
  endif()
endfunction()
