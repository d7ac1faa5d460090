# shellcheck shell=sh
# Sourced by the checks of this folder: goes to the tree that is checked, and says which modules
# CMakeLists.txt lists there; a module inside another is searched with that one.
cd "$1"
modules=$(sed 's/#.*//' CMakeLists.txt | grep -oE 'fr_module *\( *[^ )]+' | sed -E 's/.*\( *//' | grep -v /)
