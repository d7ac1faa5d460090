# The files under presets/ are compiled into the program, so that `--cluster frontier` works
# from any directory and needs nothing installed.  They are checked like any user's file.  So are
# the schemas of all documents, for `forerun show outcome`.
file(GLOB preset_files CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/presets/*/*.json
     ${CMAKE_SOURCE_DIR}/docs/schemas/*.json)
set(preset_source ${CMAKE_BINARY_DIR}/generated/presets.c)
set(rows "")
set(bodies "")
set(i 0)
foreach(file IN LISTS preset_files)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${file})
  get_filename_component(name ${file} NAME_WLE)
  get_filename_component(kind_dir ${file} DIRECTORY)
  get_filename_component(kind ${kind_dir} NAME)
  if(kind STREQUAL schemas)
    set(kind schema)
  endif()
  file(READ ${file} hex HEX)
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${hex}")
  string(APPEND bodies "static const unsigned char body_${i}[] = {${bytes}0};\n")
  set(head "NULL, NULL, NULL")
  if(kind STREQUAL runtime) # what the choice of the newest asks of all of them
    file(READ ${file} text)
    string(JSON date ERROR_VARIABLE missing GET "${text}" date)
    string(JSON defaults ERROR_VARIABLE missing GET "${text}" defaults)
    string(JSON suits ERROR_VARIABLE missing GET "${text}" suits)
    if(missing)
      set(suits "")
    endif()
    string(REGEX REPLACE "[^a-z0-9-]+" " " suits " ${suits} ")
    set(head "\"${date}\", \"${defaults}\", \"${suits}\"")
  endif()
  string(APPEND rows "    {\"${kind}\", \"${name}\", (const char *)body_${i}, sizeof body_${i} - 1, ${head}},\n")
  math(EXPR i "${i} + 1")
endforeach()
file(CONFIGURE OUTPUT ${preset_source} @ONLY CONTENT
"/* Written by cmake/presets.cmake from the files under presets/ and docs/schemas/. */
#include \"models/job/preset.h\"

#include <stddef.h>

@bodies@
const struct fr_preset fr_presets[] = {
@rows@    {NULL, NULL, NULL, 0, NULL, NULL, NULL}};
")
set(FR_GENERATED_models ${preset_source})

# Kernels of GPUs, which their drivers compile: calibrate/measure/device/cuda/kernels.cu says how they are made.
set(kernel_file ${CMAKE_SOURCE_DIR}/calibrate/measure/device/cuda/kernels.ptx)
set(kernel_source ${CMAKE_BINARY_DIR}/generated/kernels.c)
set(kernel_text ${CMAKE_SOURCE_DIR}/calibrate/measure/device/cuda/kernels.cu)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${kernel_file} ${kernel_text})
file(READ ${kernel_file} hex HEX)
string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${hex}")
file(READ ${kernel_text} hex HEX)
string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," text_bytes "${hex}")
file(CONFIGURE OUTPUT ${kernel_source} @ONLY CONTENT
"/* Written by cmake/presets.cmake from kernels.ptx and kernels.cu. */
#include \"calibrate/measure/device/cuda/hip.h\"

const unsigned char fr_cuda_kernels[] = {@bytes@0};
const char fr_hip_kernels[] = {@text_bytes@0};
")
set(FR_GENERATED_calibrate ${kernel_source})
