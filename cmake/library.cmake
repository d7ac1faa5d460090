# libforerun, the programs' answers without a command line (library/include/forerun.h), shared and static;
# installed with forerun.pc and a CMake package, all of it relocatable.
set(FR_ABI 0)
set(library_objects $<TARGET_OBJECTS:fr_library> $<TARGET_OBJECTS:fr_calibrate_library> $<TARGET_OBJECTS:fr_app_library>)
# What a link takes from the modules' archives: what is referred to, and no more, so that hwloc is
# not needed.
set(library_archives "")
foreach(module app real calibrate answer trust plots sim search traces models topology base)
  list(APPEND library_archives $<TARGET_FILE:fr_${module}>)
endforeach()
set(library_map ${CMAKE_SOURCE_DIR}/cmake/forerun.map)

add_library(libforerun SHARED)
target_sources(libforerun PRIVATE ${library_objects})
target_link_libraries(libforerun PRIVATE fr_flags fr_app PkgConfig::JANSSON PkgConfig::GSL
                      Threads::Threads m)
target_link_options(libforerun PRIVATE -Wl,--as-needed -Wl,--version-script=${library_map})
if(NOT FR_SANITIZE) # whose own names come with the program
  target_link_options(libforerun PRIVATE -Wl,-z,defs)
endif()
set_target_properties(libforerun PROPERTIES OUTPUT_NAME forerun LINKER_LANGUAGE C
                      VERSION ${PROJECT_VERSION} SOVERSION ${FR_ABI} LINK_DEPENDS ${library_map}
                      EXPORT_NAME forerun LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/lib)
target_include_directories(libforerun INTERFACE $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)

# One object of all that is referred to, of whose names only forerun_* are seen: nothing of it can
# clash with a name of the program that links it.
set(static_object ${CMAKE_BINARY_DIR}/lib/forerun.o)
set(static_library ${CMAKE_BINARY_DIR}/lib/libforerun.a)
add_custom_command(OUTPUT ${static_library}
  COMMAND ${CMAKE_COMMAND} -E make_directory ${CMAKE_BINARY_DIR}/lib
  COMMAND ${CMAKE_C_COMPILER} -r -nostdlib -o ${static_object} ${library_objects}
          -Wl,--start-group ${library_archives} -Wl,--end-group
  COMMAND ${CMAKE_OBJCOPY} --wildcard --keep-global-symbol=forerun_* ${static_object}
  COMMAND ${CMAKE_COMMAND} -E rm -f ${static_library}
  COMMAND ${CMAKE_AR} rcs ${static_library} ${static_object}
  DEPENDS fr_library fr_calibrate_library fr_app_library fr_app fr_real fr_calibrate fr_answer fr_trust fr_plots fr_sim fr_search fr_traces fr_models fr_topology fr_base
          ${library_objects}
  COMMAND_EXPAND_LISTS VERBATIM)
add_custom_target(libforerun-static ALL DEPENDS ${static_library})

# ---- installation -------------------------------------------------------------------------------

include(CMakePackageConfigHelpers)
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/forerun)
cmake_path(RELATIVE_PATH CMAKE_INSTALL_PREFIX BASE_DIRECTORY
           ${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_LIBDIR}/pkgconfig OUTPUT_VARIABLE up_from_pc)
configure_file(${CMAKE_SOURCE_DIR}/cmake/forerun.pc.in ${CMAKE_BINARY_DIR}/lib/forerun.pc @ONLY)
configure_package_config_file(${CMAKE_SOURCE_DIR}/cmake/forerunConfig.cmake.in
  ${CMAKE_BINARY_DIR}/lib/forerunConfig.cmake INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(${CMAKE_BINARY_DIR}/lib/forerunConfigVersion.cmake
                                 COMPATIBILITY SameMajorVersion) # as FR_ABI has it: programs of 0.1 link with 0.2

install(TARGETS libforerun EXPORT forerun LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(FILES ${static_library} DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(FILES library/include/forerun.h library/include/forerun_verbs.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(FILES ${CMAKE_BINARY_DIR}/lib/forerun.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
install(EXPORT forerun NAMESPACE forerun:: FILE forerunTargets.cmake DESTINATION ${package_dir})
install(FILES ${CMAKE_BINARY_DIR}/lib/forerunConfig.cmake
              ${CMAKE_BINARY_DIR}/lib/forerunConfigVersion.cmake DESTINATION ${package_dir})
# The Python module finds the library from where it lies: the same way for every version of Python.
install(FILES library/python/forerun/__init__.py library/python/forerun/program.py library/python/forerun/results.py
              library/python/forerun/verbs.py library/python/forerun/py.typed DESTINATION ${CMAKE_INSTALL_DATADIR}/forerun/python/forerun)
install(DIRECTORY examples DESTINATION ${CMAKE_INSTALL_DATADIR}/forerun USE_SOURCE_PERMISSIONS)
