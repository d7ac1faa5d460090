# The pages as a site: `cmake --build BUILD --target site` writes BUILD/site/html/index.html.  And their pictures.
find_program(FR_MKDOCS mkdocs)
find_program(FR_PYTHON NAMES python3 PATHS /usr/bin NO_DEFAULT_PATH)
find_program(FR_PYTHON NAMES python3)
if(FR_MKDOCS AND FR_PYTHON AND EXISTS /usr/share/mkdocs/themes/material)
  add_custom_target(site
    COMMAND ${CMAKE_COMMAND} -E env PYTHON=${FR_PYTHON} ${CMAKE_SOURCE_DIR}/cmake/site/site.sh ${CMAKE_SOURCE_DIR}
            ${CMAKE_BINARY_DIR}/site ${PROJECT_VERSION} VERBATIM)
else()
  add_custom_target(site COMMAND ${CMAKE_COMMAND} -E echo
    "no site: it needs mkdocs, mkdocs-material and python3; doxygen adds the C library (apt install mkdocs mkdocs-material doxygen)"
    COMMAND ${CMAKE_COMMAND} -E false VERBATIM)
endif()
add_custom_target(pictures COMMAND ${CMAKE_SOURCE_DIR}/cmake/site/pictures.sh $<TARGET_FILE:forerun> ${CMAKE_SOURCE_DIR}/docs VERBATIM)
