# fr_module(<folder> [DEPS <folder>...] [USES <library>...])
#   One static library fr_<folder> per folder, its sources globbed, so that a new file needs
#   no edit here.  Headers are included as "<folder>/<file>.h".  DEPS are modules further
#   down; USES are outside libraries, seen by this folder alone.  Folders of FR_INNER are modules
#   of their own; what FR_LEFT_OUT names is not built.
# fr_street(<folder> [DEPS <folder>...])
#   A folder inside a module with an order of its own: it may include only what it lists, as if it
#   were a module; whoever may include the module may include all of its streets.
# fr_program(<name> <main.c> LINK <module>...)  -- into build/<preset>/bin.
# fr_test(<module> [LINK ...])  -- every tests/<module>/test_<unit>.c becomes <module>.<unit>.

set(CMAKE_C_STANDARD 17)
set(CMAKE_C_STANDARD_REQUIRED ON)
set(CMAKE_C_EXTENSIONS OFF)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

set(FR_SANITIZE "" CACHE STRING "Sanitizers, e.g. address,undefined or thread")
set(FR_LIBRARY_KIND STATIC CACHE STRING "Of the modules; SHARED: a change relinks no program")
option(FR_PAPERS "Build forerun reproduce, the papers' tables beside ours" ON)
option(FR_COVERAGE "Instrument for gcov" OFF)
option(FR_FUZZ "Build the libFuzzer targets (clang only)" OFF)

add_library(fr_flags INTERFACE)
target_compile_definitions(fr_flags INTERFACE _POSIX_C_SOURCE=200809L _DEFAULT_SOURCE)
set_source_files_properties(base/text/version.c PROPERTIES COMPILE_DEFINITIONS FR_VERSION="${PROJECT_VERSION}")
target_compile_options(fr_flags INTERFACE
  -Wall -Wextra -Werror -Wpedantic -Wshadow -Wconversion -Wno-sign-conversion -Wvla
  -Wstrict-prototypes -Wmissing-prototypes -Wold-style-definition
  -ffp-contract=off) # same bytes whatever the compiler fuses
# What Debian hardens its packages with.  forerun-simgrid, which is C++, has these flags and none of the above.
include(CheckCCompilerFlag)
include(CheckPIESupported)
check_pie_supported()
set(CMAKE_POSITION_INDEPENDENT_CODE ON) # of programs too: their addresses are drawn at each start
add_library(fr_hardened INTERFACE)
target_compile_options(fr_hardened INTERFACE -fstack-protector-strong)
check_c_compiler_flag(-fcf-protection FR_BRANCHES_PROTECTED) # x86 alone
if(FR_BRANCHES_PROTECTED)
  target_compile_options(fr_hardened INTERFACE -fcf-protection)
endif()
if(NOT FR_SANITIZE AND NOT FR_COVERAGE AND NOT FR_FUZZ) # it wants an optimising compiler, and hides calls from sanitizers
  set(optimised $<CONFIG:Release,RelWithDebInfo,MinSizeRel>)
  target_compile_options(fr_hardened INTERFACE $<${optimised}:-U_FORTIFY_SOURCE> $<${optimised}:-D_FORTIFY_SOURCE=2>)
endif()
target_link_options(fr_hardened INTERFACE -Wl,-z,relro,-z,now)
target_link_libraries(fr_flags INTERFACE fr_hardened)
# Copies of some hundred bytes, a dozen for every plan priced: gcc's own `rep movs` takes longer to
# start than libc takes for all of it.
set(FR_COPIES -mmemcpy-strategy=unrolled_loop:128:noalign,libcall:-1:noalign
              -mmemset-strategy=unrolled_loop:128:noalign,libcall:-1:noalign)
check_c_compiler_flag("${FR_COPIES}" FR_COPIES_KNOWN)
if(FR_COPIES_KNOWN)
  target_compile_options(fr_flags INTERFACE ${FR_COPIES})
endif()
if(FR_SANITIZE)
  target_compile_options(fr_flags INTERFACE -fsanitize=${FR_SANITIZE}
                         -fno-sanitize-recover=all -fno-omit-frame-pointer)
  target_link_options(fr_flags INTERFACE -fsanitize=${FR_SANITIZE})
endif()
if(FR_COVERAGE)
  target_compile_options(fr_flags INTERFACE --coverage)
  target_link_options(fr_flags INTERFACE --coverage)
endif()
if(FR_FUZZ)
  target_compile_options(fr_flags INTERFACE -fsanitize=fuzzer-no-link)
  target_link_options(fr_flags INTERFACE -fsanitize=fuzzer-no-link)
endif()

function(fr_module folder)
  cmake_parse_arguments(M "" "" "DEPS;USES" ${ARGN})
  if(folder IN_LIST FR_LEFT_OUT)
    return()
  endif()
  string(REPLACE "/" "_" name ${folder})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/${folder}/*.c)
  list(FILTER sources EXCLUDE REGEX "/main\\.c$")
  foreach(other IN LISTS FR_INNER FR_LEFT_OUT)
    if(NOT other STREQUAL folder)
      list(FILTER sources EXCLUDE REGEX "/${other}(/|$)")
    endif()
  endforeach()
  list(REMOVE_ITEM M_DEPS ${FR_LEFT_OUT})
  add_library(fr_${name} ${FR_LIBRARY_KIND} ${sources} ${FR_GENERATED_${name}})
  target_include_directories(fr_${name} PRIVATE ${CMAKE_SOURCE_DIR} ${CMAKE_BINARY_DIR}/generated)
  target_link_libraries(fr_${name} PRIVATE fr_flags ${M_USES} PUBLIC m)
  # libforerun is made of these; hidden, so that being position-independent costs nothing.
  set_target_properties(fr_${name} PROPERTIES POSITION_INDEPENDENT_CODE ON)
  if(FR_LIBRARY_KIND STREQUAL "STATIC")
    set_target_properties(fr_${name} PROPERTIES C_VISIBILITY_PRESET hidden)
  endif()
  foreach(dep IN LISTS M_DEPS)
    string(REPLACE "/" "_" dep ${dep})
    target_link_libraries(fr_${name} PUBLIC fr_${dep})
  endforeach()
  fr_street(${folder} DEPS ${M_DEPS})
endfunction()

function(fr_street folder)
  cmake_parse_arguments(S "" "" "DEPS" ${ARGN})
  string(REPLACE "/" "_" name ${folder})
  list(JOIN S_DEPS "," deps)
  if(BUILD_TESTING)
    add_test(NAME repo.layers.${name}
             COMMAND ${CMAKE_SOURCE_DIR}/tests/repo/layers.sh ${CMAKE_SOURCE_DIR} ${folder} "${deps}")
    set_tests_properties(repo.layers.${name} PROPERTIES LABELS repo)
  endif()
endfunction()

# Loops over numbers: vectorised whatever the preset, since their speed is what is measured.  The
# flags change no result but errno and traps.
function(fr_optimize source)
  if(NOT FR_SANITIZE AND NOT FR_COVERAGE)
    set_source_files_properties(${CMAKE_SOURCE_DIR}/${source} PROPERTIES COMPILE_OPTIONS
                                "-O3;-fno-math-errno;-fno-trapping-math")
  endif()
endfunction()

# Where a program finds its libraries is the same in the build tree and installed: absolute folders that
# its links name.  CMake would end a path that it means to replace in an empty item, which the loader
# takes for the working folder (tests/repo/runpath.sh).
function(fr_runpath name)
  if(FR_LIBRARY_KIND STREQUAL "STATIC") # else programs also find our own in the build tree
    set_target_properties(${name} PROPERTIES BUILD_WITH_INSTALL_RPATH ON INSTALL_RPATH_USE_LINK_PATH ON)
  endif()
endfunction()

function(fr_program name main)
  cmake_parse_arguments(P "" "" "LINK" ${ARGN})
  add_executable(${name} ${CMAKE_SOURCE_DIR}/${main})
  target_include_directories(${name} PRIVATE ${CMAKE_SOURCE_DIR} ${CMAKE_BINARY_DIR}/generated)
  target_link_libraries(${name} PRIVATE fr_flags ${P_LINK})
  fr_runpath(${name})
  install(TARGETS ${name} RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endfunction()

function(fr_test module)
  fr_test_in(${module} ${CMAKE_CURRENT_SOURCE_DIR}/${module} ${ARGN})
endfunction()

function(fr_test_in module folder)
  cmake_parse_arguments(T "" "" "LINK;LABELS" ${ARGN})
  if(NOT T_LABELS)
    set(T_LABELS unit)
  endif()
  file(GLOB sources CONFIGURE_DEPENDS ${folder}/test_*.c)
  set(together "")
  foreach(source IN LISTS sources)
    get_filename_component(stem ${source} NAME_WE)
    string(REPLACE "test_" "" unit ${stem})
    file(STRINGS ${source} alone REGEX "tests/failing.h") # its malloc is the whole program's
    if(FR_LIBRARY_KIND STREQUAL "STATIC" AND NOT alone)
      list(APPEND together ${source})
    else()
      add_executable(test_${module}_${unit} ${source})
      fr_test_program(test_${module}_${unit} ${T_LINK})
    endif()
    add_test(NAME ${module}.${unit} COMMAND ${CMAKE_RUNTIME_OUTPUT_DIRECTORY}/test_${module}_${unit})
    # 77: all of it was skipped (tests/cmocka.h), for want of third-party data for instance.
    set_tests_properties(${module}.${unit} PROPERTIES TIMEOUT 240 LABELS "${T_LABELS}"
                         SKIP_RETURN_CODE 77)
  endforeach()
  if(together)
    fr_test_together(${module} ${folder} "${together}" ${T_LINK})
  endif()
endfunction()

# fr_spread(<module>.<unit> <n>) -- its cases as n tests <module>.<unit>.1 ..., which ctest runs side by side.
function(fr_spread test n)
  string(REPLACE "." "_" program test_${test})
  get_test_property(${test} LABELS labels)
  set_tests_properties(${test} PROPERTIES ENVIRONMENT "FR_SHARE=1/${n}")
  foreach(share RANGE 2 ${n})
    add_test(NAME ${test}.${share} COMMAND ${CMAKE_RUNTIME_OUTPUT_DIRECTORY}/${program})
    set_tests_properties(${test}.${share} PROPERTIES TIMEOUT 240 LABELS "${labels}" SKIP_RETURN_CODE 77
                         ENVIRONMENT "FR_SHARE=${share}/${n}")
  endforeach()
endfunction()

# fr_whole(<module>.<unit>...) -- of tests that every day try a sample (fr_sample of tests/cmocka.h) the whole, at night.
function(fr_whole)
  foreach(test IN LISTS ARGN)
    string(REPLACE "." "_" program test_${test})
    add_test(NAME ${test}_whole CONFIGURATIONS slow COMMAND ${CMAKE_RUNTIME_OUTPUT_DIRECTORY}/${program})
    set_tests_properties(${test}_whole PROPERTIES TIMEOUT 3600 LABELS slow SKIP_RETURN_CODE 77 ENVIRONMENT FR_WHOLE=1)
  endforeach()
endfunction()

# The tests of a folder are one program, a hundred links fewer: it is called by the name test_<module>_<unit> that stands
# beside it, and runs what was that file's main.
function(fr_test_together module folder sources)
  get_filename_component(name ${folder} NAME)
  set(program test_of_${module}_${name})
  set(declared "")
  set(rows "")
  foreach(source IN LISTS sources)
    get_filename_component(stem ${source} NAME_WE)
    string(REPLACE "test_" "test_${module}_" unit ${stem})
    set_source_files_properties(${source} PROPERTIES COMPILE_DEFINITIONS main=${unit} COMPILE_OPTIONS -Wno-missing-prototypes)
    string(APPEND declared "int ${unit}(int, char **);\n")
    string(APPEND rows "    {\"${unit}\", ${unit}},\n")
    add_custom_target(${unit})
    add_dependencies(${unit} ${program})
    file(MAKE_DIRECTORY ${CMAKE_RUNTIME_OUTPUT_DIRECTORY})
    file(CREATE_LINK ${program} ${CMAKE_RUNTIME_OUTPUT_DIRECTORY}/${unit} SYMBOLIC)
  endforeach()
  configure_file(${CMAKE_SOURCE_DIR}/tests/together.c.in ${CMAKE_CURRENT_BINARY_DIR}/${program}.c @ONLY)
  add_executable(${program} ${CMAKE_CURRENT_BINARY_DIR}/${program}.c ${sources})
  fr_test_program(${program} ${ARGN})
endfunction()

function(fr_test_program program)
  target_include_directories(${program} PRIVATE ${CMAKE_SOURCE_DIR})
  target_link_libraries(${program} PRIVATE fr_flags ${ARGN} PkgConfig::CMOCKA)
  target_compile_options(${program} PRIVATE # built more often than run; what -O1 does not follow it takes for a fault
    "$<$<CONFIG:Release>:-O1>"
    "$<$<AND:$<CONFIG:Release>,$<C_COMPILER_ID:GNU>>:-Wno-maybe-uninitialized>")
  target_compile_definitions(${program} PRIVATE
    FR_SOURCE_DIR="${CMAKE_SOURCE_DIR}" FR_BIN_DIR="${CMAKE_RUNTIME_OUTPUT_DIRECTORY}")
endfunction()
