# What the command line shares with other programs of people's.
gt_test(profile_test SOURCES ${CMAKE_CURRENT_LIST_DIR}/profile_test.cc ${CMAKE_CURRENT_LIST_DIR}/link_test.cc
        ${CMAKE_CURRENT_LIST_DIR}/node_home_test.cc DEPENDS client/profile)
gt_test(doctor_test SOURCES ${CMAKE_CURRENT_LIST_DIR}/doctor_test.cc DEPENDS client/doctor)
gt_test(service_test SOURCES ${CMAKE_CURRENT_LIST_DIR}/service_test.cc DEPENDS client/profile client/service)
