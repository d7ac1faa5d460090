# forerun-smpi: the harness's and the real programs' own sources, unchanged, against SimGrid's MPI, so that they run on as
# many simulated hosts as wanted (forerun calibrate --launcher smpi:PLATFORM.xml).  smpirun loads a
# program once a rank, so it is a shared object; this is what smpicc does, file by file.
find_program(SMPIRUN smpirun)
find_path(SMPI_INCLUDE smpi/mpi.h)
if(NOT SIMGRID_FOUND OR NOT SMPIRUN OR NOT SMPI_INCLUDE)
  message(STATUS "no SMPI (smpirun, of libsimgrid-dev): forerun-smpi is left out")
  return()
endif()
if(FR_FUZZ) # clang links its sanitizers into programs alone
  message(STATUS "libFuzzer targets: forerun-smpi, a shared object, is left out")
  return()
endif()
file(GLOB_RECURSE smpi_sources CONFIGURE_DEPENDS
  ${CMAKE_SOURCE_DIR}/calibrate/measure/harness/*.c ${CMAKE_SOURCE_DIR}/real/apps/*.c)
add_library(forerun-smpi MODULE ${smpi_sources})
set_target_properties(forerun-smpi PROPERTIES PREFIX "" SUFFIX ""
                      LIBRARY_OUTPUT_DIRECTORY ${CMAKE_RUNTIME_OUTPUT_DIRECTORY})
target_compile_options(forerun-smpi PRIVATE -include ${SMPI_INCLUDE}/smpi/smpi_helpers.h -Wno-pedantic)
target_include_directories(forerun-smpi PRIVATE ${CMAKE_SOURCE_DIR})
target_include_directories(forerun-smpi SYSTEM BEFORE PRIVATE ${SMPI_INCLUDE}/smpi)
target_link_options(forerun-smpi PRIVATE -Wl,-z,defs)
target_link_libraries(forerun-smpi PRIVATE fr_flags fr_calibrate fr_real PkgConfig::SIMGRID PkgConfig::BLAS
                      PkgConfig::HWLOC PkgConfig::JANSSON PkgConfig::GSL Threads::Threads m)
fr_runpath(forerun-smpi)
# Started by its name, through smpirun, as a program is.
install(TARGETS forerun-smpi LIBRARY DESTINATION ${CMAKE_INSTALL_BINDIR}
        PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
