# What every page carries (answer/page): our style and script, and Chart.js for live figures.  Chart.js is not ours and is
# never committed: it is embedded from Debian's package libjs-chart.js, with its licence.  Without that package pages show
# static figures.  -DFR_CHART_JS=OFF builds without it.
find_file(FR_CHART_JS chart.min.js NO_DEFAULT_PATH
          PATHS /usr/share/javascript/chart.js /usr/share/nodejs/chart.js/dist
          DOC "Chart.js, minified, for live figures on pages; OFF: static figures")
find_file(FR_CHART_LICENCE copyright NO_DEFAULT_PATH PATHS /usr/share/doc/libjs-chart.js
          DOC "licence of Chart.js, which goes into every page with it")

# A file as bytes of C, and the SHA-256 of its content as bytes, by which a page's policy names a script.
function(fr_page_asset name file)
  set(hex "")
  string(SHA256 hash "")
  if(file)
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${file})
    file(READ ${file} hex HEX)
    file(SHA256 ${file} hash)
  endif()
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "'\\\\x\\1'," bytes "${hex}")
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," hash "${hash}")
  set(page_bodies "${page_bodies}static const char text_${name}[] = {${bytes}0};
const struct fr_page_asset fr_page_${name} = {text_${name}, sizeof text_${name} - 1, {${hash}}};\n" PARENT_SCOPE)
endfunction()

set(chart "")
set(licence "")
if(FR_CHART_JS AND FR_CHART_LICENCE)
  file(STRINGS ${FR_CHART_JS} broken REGEX "</script|<!--")
  if(broken)
    message(FATAL_ERROR "${FR_CHART_JS} cannot stand in a page: it holds </script or <!--")
  endif()
  set(chart ${FR_CHART_JS})
  set(licence ${FR_CHART_LICENCE})
  message(STATUS "Pages: live figures by Chart.js (${FR_CHART_JS})")
else()
  message(STATUS "Pages: static figures only, without Chart.js (Debian: libjs-chart.js)")
endif()
set(page_bodies "")
fr_page_asset(head ${CMAKE_SOURCE_DIR}/answer/page/head.html)
fr_page_asset(style ${CMAKE_SOURCE_DIR}/answer/page/page.css)
fr_page_asset(script ${CMAKE_SOURCE_DIR}/answer/page/page.js)
fr_page_asset(chart "${chart}")
fr_page_asset(licence "${licence}")
set(page_source ${CMAKE_BINARY_DIR}/generated/page_assets.c)
file(CONFIGURE OUTPUT ${page_source} @ONLY CONTENT
"/* Written by cmake/page.cmake. */
#include \"answer/page/assets.h\"

@page_bodies@")
set(FR_GENERATED_answer ${FR_GENERATED_answer} ${page_source})
