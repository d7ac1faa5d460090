# cmake -DSOURCE=DIR -DOUT=FILE -P commit.cmake: FILE says which commit DIR is at, and is touched only
# where that changed.  Of an archive git wrote the name into cmake/commit.txt (.gitattributes).
cmake_policy(VERSION 3.25)
execute_process(COMMAND git -C ${SOURCE} describe --always --dirty --abbrev=12 --exclude=*
                OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET
                RESULT_VARIABLE failed)
if(failed OR commit STREQUAL "")
  file(STRINGS ${SOURCE}/cmake/commit.txt commit LIMIT_COUNT 1)
  if(commit MATCHES "Format")
    set(commit "unknown")
  endif()
endif()
file(CONFIGURE OUTPUT ${OUT} CONTENT "#define FR_COMMIT \"@commit@\"\n" @ONLY)
