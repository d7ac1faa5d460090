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
# What of the other modules they need is compiled again, position-independent.
file(GLOB_RECURSE smpi_needs CONFIGURE_DEPENDS
  ${CMAKE_SOURCE_DIR}/base/*.c ${CMAKE_SOURCE_DIR}/topology/*.c ${CMAKE_SOURCE_DIR}/models/*.c
  ${CMAKE_SOURCE_DIR}/calibrate/measure/power/*.c ${CMAKE_SOURCE_DIR}/calibrate/measure/device/*.c ${CMAKE_SOURCE_DIR}/calibrate/measure/knob/*.c)
file(GLOB smpi_files CONFIGURE_DEPENDS
  ${CMAKE_SOURCE_DIR}/trust/numbers/statistics.c ${CMAKE_SOURCE_DIR}/calibrate/measure/power*.c
     ${CMAKE_SOURCE_DIR}/calibrate/measure/knob.c)
foreach(unit calibrate/samples/kinds calibrate/samples/read calibrate/samples/repair calibrate/samples/source
             calibrate/samples/write calibrate/measure/leash calibrate/measure/quota calibrate/measure/watch/stopped
             real/quality/corpus real/quality/grammar)
  list(APPEND smpi_files ${CMAKE_SOURCE_DIR}/${unit}.c)
endforeach()
list(APPEND smpi_needs ${smpi_files} ${FR_GENERATED_models} ${FR_GENERATED_calibrate})
add_library(fr_smpi_needs OBJECT ${smpi_needs})
set_target_properties(fr_smpi_needs PROPERTIES POSITION_INDEPENDENT_CODE ON)
target_include_directories(fr_smpi_needs PRIVATE ${CMAKE_SOURCE_DIR})
target_link_libraries(fr_smpi_needs PRIVATE fr_flags PkgConfig::JANSSON PkgConfig::GSL
                      PkgConfig::HWLOC)

add_library(forerun-smpi MODULE ${smpi_sources} $<TARGET_OBJECTS:fr_smpi_needs>)
set_target_properties(forerun-smpi PROPERTIES PREFIX "" SUFFIX ""
                      LIBRARY_OUTPUT_DIRECTORY ${CMAKE_RUNTIME_OUTPUT_DIRECTORY})
target_compile_options(forerun-smpi PRIVATE -include ${SMPI_INCLUDE}/smpi/smpi_helpers.h -Wno-pedantic)
target_include_directories(forerun-smpi PRIVATE ${CMAKE_SOURCE_DIR})
target_include_directories(forerun-smpi SYSTEM BEFORE PRIVATE ${SMPI_INCLUDE}/smpi)
target_link_options(forerun-smpi PRIVATE -Wl,-z,defs)
target_link_libraries(forerun-smpi PRIVATE fr_flags PkgConfig::SIMGRID PkgConfig::BLAS
                      PkgConfig::HWLOC PkgConfig::JANSSON PkgConfig::GSL Threads::Threads m)
fr_runpath(forerun-smpi)
# Started by its name, through smpirun, as a program is.
install(TARGETS forerun-smpi LIBRARY DESTINATION ${CMAKE_INSTALL_BINDIR}
        PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
