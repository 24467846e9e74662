# What is installed, and the Debian packages made of it: one a component (./dev deb).
include(GNUInstallDirs)
# `share` builds the programs that are installed; the target `all`, with the tests, is not needed for that.
set(CMAKE_SKIP_INSTALL_ALL_DEPENDENCY ON)
set(GRIDTORRENT_PACKAGER "GridTorrent developers <gridtorrent@packages.invalid>" CACHE STRING "who made the packages, as NAME <ADDRESS>")

# Man pages and completions come from the programs' own tables of options (./dev man).
set(share ${CMAKE_BINARY_DIR}/share)
function(gt_printed target file)  # gt_printed(PROGRAM FILE ARGUMENT...): what a program prints, as a file below share
  set(out ${CMAKE_BINARY_DIR}/share/${file})
  get_filename_component(folder ${out} DIRECTORY)
  add_custom_command(OUTPUT ${out}
    COMMAND ${CMAKE_COMMAND} -E make_directory ${folder}
    COMMAND $<TARGET_FILE:${target}> ${ARGN} > ${out}
    DEPENDS ${target} VERBATIM)
  set_property(GLOBAL APPEND PROPERTY GT_PRINTED ${out})
endfunction()
function(gt_gzipped from file)  # gt_gzipped(FROM FILE): FROM compressed as FILE below share
  set(out ${CMAKE_BINARY_DIR}/share/${file})
  get_filename_component(folder ${out} DIRECTORY)
  add_custom_command(OUTPUT ${out}
    COMMAND ${CMAKE_COMMAND} -E make_directory ${folder}
    COMMAND gzip -9nc ${from} > ${out}
    DEPENDS ${from} VERBATIM)
  set_property(GLOBAL APPEND PROPERTY GT_PRINTED ${out})
endfunction()

# gt_packaged(COMPONENT PROGRAM MAN_SECTION): a program with its man page and the files that each package has.
function(gt_packaged component program section)
  install(TARGETS ${program} COMPONENT ${component} DESTINATION ${CMAKE_INSTALL_BINDIR})
  gt_printed(${program} man/man${section}/${program}.${section} --help-man)
  gt_gzipped(${CMAKE_BINARY_DIR}/share/man/man${section}/${program}.${section} gz/${program}.${section}.gz)
  install(FILES ${CMAKE_BINARY_DIR}/share/gz/${program}.${section}.gz COMPONENT ${component}
    DESTINATION ${CMAKE_INSTALL_MANDIR}/man${section})
  set(doc ${CMAKE_INSTALL_DATADIR}/doc/gridtorrent-${component})
  install(FILES ${PROJECT_SOURCE_DIR}/packaging/deb/copyright ${PROJECT_SOURCE_DIR}/NOTICE COMPONENT ${component} DESTINATION ${doc})
  install(FILES ${CMAKE_BINARY_DIR}/share/gz/changelog.gz COMPONENT ${component} DESTINATION ${doc})
endfunction()

gt_gzipped(${PROJECT_SOURCE_DIR}/packaging/deb/changelog gz/changelog.gz)
gt_packaged(server gridtorrent-server 8)
gt_packaged(node gridtorrentd 8)
gt_packaged(cli gridtorrent 1)

set(units lib/systemd/system)
install(FILES packaging/systemd/gridtorrent-server.service COMPONENT server DESTINATION /${units})
install(FILES packaging/systemd/gridtorrent-node@.service COMPONENT node DESTINATION /${units})
install(FILES packaging/systemd/gridtorrent-node.service COMPONENT node DESTINATION lib/systemd/user)
install(FILES packaging/etc/gridtorrent-server.toml COMPONENT server DESTINATION /etc/gridtorrent)
install(FILES packaging/etc/gridtorrentd.toml COMPONENT node DESTINATION /etc/gridtorrent)

# What operators take as a start, as examples.
install(FILES packaging/monitoring/grafana-dashboard.json packaging/monitoring/prometheus-rules.yml packaging/monitoring/prometheus-rules-test.yml
  COMPONENT server DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/gridtorrent-server/examples/monitoring)
install(PROGRAMS packaging/slurm/gridtorrent-array packaging/slurm/gridtorrent-once packaging/slurm/gridtorrent-remove packaging/slurm/analyse.sh
  COMPONENT node DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/gridtorrent-node/examples/slurm)
install(FILES packaging/snakemake/gridtorrent.smk COMPONENT cli DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/gridtorrent-cli/examples)

foreach(shell bash zsh fish)
  gt_printed(gridtorrent completions/gridtorrent.${shell} completion ${shell})
endforeach()
install(FILES ${share}/completions/gridtorrent.bash COMPONENT cli
  DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions RENAME gridtorrent)
install(FILES ${share}/completions/gridtorrent.zsh COMPONENT cli
  DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/vendor-completions RENAME _gridtorrent)
install(FILES ${share}/completions/gridtorrent.fish COMPONENT cli DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)

set(CPACK_COMPONENTS_ALL server node cli)
if(GT_DESKTOP)
  gt_packaged(gui gridtorrent-gui 1)
  list(APPEND CPACK_COMPONENTS_ALL gui)
  set(desktop ${PROJECT_SOURCE_DIR}/packaging/desktop)
  install(FILES ${desktop}/gridtorrent-gui.desktop COMPONENT gui DESTINATION ${CMAKE_INSTALL_DATADIR}/applications)
  install(FILES ${desktop}/org.gridtorrent.Desktop.metainfo.xml COMPONENT gui DESTINATION ${CMAKE_INSTALL_DATADIR}/metainfo)
  set(icons ${CMAKE_INSTALL_DATADIR}/icons/hicolor)
  install(FILES ${desktop}/gridtorrent-gui.svg COMPONENT gui DESTINATION ${icons}/scalable/apps)
  foreach(size 16 32 48 128)
    install(FILES ${PROJECT_SOURCE_DIR}/gui/resources/icon-${size}.png COMPONENT gui
      DESTINATION ${icons}/${size}x${size}/apps RENAME gridtorrent-gui.png)
  endforeach()
endif()

get_property(printed GLOBAL PROPERTY GT_PRINTED)
add_custom_target(share DEPENDS ${printed})
if(GT_DESKTOP)
  add_dependencies(share translations)
endif()

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME gridtorrent)
set(CPACK_PACKAGE_VENDOR "GridTorrent developers")
set(CPACK_PACKAGE_CONTACT "${GRIDTORRENT_PACKAGER}")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_COMPONENTS_GROUPING ONE_PER_GROUP)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_SECTION net)
set(CPACK_DEBIAN_PACKAGE_PRIORITY optional)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_DEBIAN_COMPRESSION_TYPE xz)
set(about "GridTorrent moves research data between people: each data set comes from\nall nodes that have it at once, and only to those who may have it.")
foreach(component server node cli gui)
  string(TOUPPER ${component} upper)
  set(CPACK_DEBIAN_${upper}_PACKAGE_NAME gridtorrent-${component})
  file(GLOB scripts CONFIGURE_DEPENDS packaging/deb/${component}/*)
  set(CPACK_DEBIAN_${upper}_PACKAGE_CONTROL_EXTRA ${scripts})
endforeach()
set(CPACK_COMPONENT_SERVER_DESCRIPTION "share research data: the server of a site\n${about}\n.\nThis is the server, which holds accounts, rights and task lists. No data\npasses through it.")
set(CPACK_COMPONENT_NODE_DESCRIPTION "share research data: the node of a person\n${about}\n.\nThis is the node, which publishes, fetches and seeds for one person.")
set(CPACK_COMPONENT_CLI_DESCRIPTION "share research data: the command line\n${about}\n.\nThis is the command line for node and server.")
set(CPACK_COMPONENT_GUI_DESCRIPTION "share research data: the desktop application\n${about}\n.\nThis is the window: it finds, fetches and publishes, and says why a\ntransfer is as fast as it is.")
set(CPACK_DEBIAN_NODE_PACKAGE_RECOMMENDS "gridtorrent-cli")
set(CPACK_DEBIAN_CLI_PACKAGE_RECOMMENDS "gridtorrent-node")
set(CPACK_DEBIAN_GUI_PACKAGE_RECOMMENDS "gridtorrent-node, gridtorrent-cli")
set(CPACK_DEBIAN_SERVER_PACKAGE_SUGGESTS "gridtorrent-cli")
include(CPack)
