# Descriptions are compiled in: of every <folder>/<name>.<suffix> the text, as <prefix><name>[] (base/describe/).
function(fr_descriptions module folder suffix prefix)
  file(GLOB files CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/${folder}/*.${suffix})
  set(bodies "")
  foreach(file IN LISTS files)
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${file})
    get_filename_component(name ${file} NAME_WLE)
    file(READ ${file} hex HEX)
    string(REGEX REPLACE "([0-9a-f][0-9a-f])" "'\\\\x\\1'," bytes "${hex}")
    string(APPEND bodies "extern const char ${prefix}${name}[];\nconst char ${prefix}${name}[] = {${bytes}0};\n")
  endforeach()
  string(REPLACE "/" "_" stem ${folder})
  set(source ${CMAKE_BINARY_DIR}/generated/${stem}.c)
  file(CONFIGURE OUTPUT ${source} @ONLY CONTENT
"/* Written by cmake/descriptions.cmake from the .${suffix} of ${folder}. */
@bodies@")
  set(FR_GENERATED_${module} ${FR_GENERATED_${module}} ${source} PARENT_SCOPE)
endfunction()
