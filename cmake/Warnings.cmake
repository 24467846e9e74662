# gt_build_options: warnings and hardening for our own code; libraries' headers are SYSTEM and stay silent.
option(GT_WERROR "treat warnings as errors" ON)
add_library(gt_build_options INTERFACE)
target_compile_features(gt_build_options INTERFACE cxx_std_20)
target_compile_options(gt_build_options INTERFACE
  -Wall -Wextra -Wconversion -Wsign-conversion -Wshadow -Wnon-virtual-dtor -Wold-style-cast -Wformat=2
  -Wimplicit-fallthrough $<$<BOOL:${GT_WERROR}>:-Werror>
  -fstack-protector-strong -fcf-protection
  -ffile-prefix-map=${PROJECT_SOURCE_DIR}=. )
target_compile_definitions(gt_build_options INTERFACE _GLIBCXX_ASSERTIONS)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # GCC 12 reports these inside its own headers at -O2 (PR105329, PR105651, PR105562); the last ones with precompiled headers.
  target_compile_options(gt_build_options INTERFACE -Wno-restrict -Wno-maybe-uninitialized -Wno-array-bounds
    -Wno-stringop-overflow -Wno-stringop-overread)
endif()
target_link_options(gt_build_options INTERFACE -Wl,-z,relro,-z,now,-z,noexecstack)
