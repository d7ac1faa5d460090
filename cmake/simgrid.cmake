# forerun-simgrid, the one program that sees SimGrid and the one that is C++ (dependencies between
# activities exist only there).  Without either the rest is built all the same, and --network
# simgrid says what is missing.
include(CheckLanguage)
pkg_check_modules(SIMGRID QUIET IMPORTED_TARGET simgrid>=3.32)
check_language(CXX)
if(NOT SIMGRID_FOUND OR NOT CMAKE_CXX_COMPILER)
  message(STATUS "no SimGrid >= 3.32 (libsimgrid-dev) or no C++ compiler: forerun-simgrid is left out")
  return()
endif()
enable_language(CXX)
add_executable(forerun-simgrid ${CMAKE_SOURCE_DIR}/sim/network/simgrid/main.cpp)
set_target_properties(forerun-simgrid PROPERTIES CXX_STANDARD 17 CXX_STANDARD_REQUIRED ON CXX_EXTENSIONS OFF)
target_compile_options(forerun-simgrid PRIVATE -Wall -Wextra -Werror)
target_link_libraries(forerun-simgrid PRIVATE fr_hardened PkgConfig::SIMGRID)
fr_runpath(forerun-simgrid)
install(TARGETS forerun-simgrid RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
