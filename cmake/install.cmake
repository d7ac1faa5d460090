# What is installed beside programs and library: manual pages, completion of shells, documents.
# Debian packages: packaging/deb.sh.
find_program(FR_MD2MAN go-md2man)
if(FR_MD2MAN)
  set(manual ${CMAKE_BINARY_DIR}/manual)
  add_custom_command(OUTPUT ${manual}/done
    COMMAND ${CMAKE_COMMAND} -E rm -rf ${manual}
    COMMAND ${CMAKE_SOURCE_DIR}/cmake/manual.sh $<TARGET_FILE:forerun> ${CMAKE_SOURCE_DIR}/docs ${manual}
            $<TARGET_FILE:forerun-mpi>
    COMMAND ${CMAKE_COMMAND} -E touch ${manual}/done
    DEPENDS forerun forerun-mpi cmake/manual.sh docs/explanation/model.md docs/reference/cluster-keys.md docs/reference/formats.md
            docs/reference/model-keys.md docs/reference/outputs.md docs/reference/runtime-keys.md VERBATIM)
  add_custom_target(manual ALL DEPENDS ${manual}/done)
  install(DIRECTORY ${manual}/ DESTINATION ${CMAKE_INSTALL_MANDIR} PATTERN done EXCLUDE)
endif()

foreach(program forerun forerun-mpi) # shells look for a file of the program's name
  install(FILES packaging/completion/forerun.bash RENAME ${program}
          DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
  install(FILES packaging/completion/forerun.fish RENAME ${program}.fish
          DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)
endforeach()
install(FILES packaging/completion/_forerun DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions)
configure_file(packaging/modulefile.in ${CMAKE_BINARY_DIR}/modulefile @ONLY)
install(FILES ${CMAKE_BINARY_DIR}/modulefile RENAME ${PROJECT_VERSION}
        DESTINATION ${CMAKE_INSTALL_DATADIR}/modulefiles/forerun)
install(FILES README.md LICENSE NOTICE SECURITY.md CONTRIBUTING.md CHANGELOG.md RELEASING.md CITATION.cff CITATION.bib
        DESTINATION ${CMAKE_INSTALL_DOCDIR})
# Beside README.md as in the sources, so that its links lead there.
install(DIRECTORY docs/ DESTINATION ${CMAKE_INSTALL_DOCDIR}/docs FILES_MATCHING PATTERN "*.md" PATTERN "*.svg" PATTERN "*.ipynb"
        PATTERN schemas EXCLUDE)

# Of every document, for those who check or edit one; they refer to each other by file name.
file(GLOB schemas CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/docs/schemas/*.json)
install(FILES ${schemas} DESTINATION ${CMAKE_INSTALL_DATADIR}/forerun/schemas)

# Folders that pages link to, from where they lie in the sources (tests/library: library.links).
install(FILES library/include/forerun.h DESTINATION ${CMAKE_INSTALL_DOCDIR}/library/include)
file(RELATIVE_PATH to_share /${CMAKE_INSTALL_DOCDIR} /${CMAKE_INSTALL_DATADIR}/forerun)
install(CODE "
  set(folder \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_DOCDIR}\")
  file(REMOVE \"\${folder}/examples\" \"\${folder}/docs/schemas\")
  file(CREATE_LINK ${to_share}/examples \"\${folder}/examples\" SYMBOLIC)
  file(CREATE_LINK ../${to_share}/schemas \"\${folder}/docs/schemas\" SYMBOLIC)")
