#!/bin/sh
# programs.sh ROOT -- tests and scripts start programs that a bare Debian has or cmake/setup.sh installs.  Of the
# usual ones that are in neither, a script that starts one looks for it first (command -v, or "for tool in"), it or
# another script of its folder.  A build that a script asks CMake for names its generator, or a preset, which does:
# CMake's own choice is make.
set -eu
cd "$1"
elsewhere='bc|chromium|column|convert|curl|dot|file|firefox|fish|gdb|groff|ip|jq|less|lsof|make|man|mandoc|pdflatex|rsync|shellcheck|ss|ssh|strace|sudo|tc|unzip|valgrind|vim|wget|xmllint|xxd|yq|zip|zsh'
bad=0
complain() {
  echo "$*"
  bad=1
}

# looked_for PROGRAM FILE : by a script of the file's folder, or of one that it goes through with the others
looked_for() {
  grep -qsE "command -v $1( |\$|\")|for (tool|shell|program) in( [a-z0-9-]+)* $1[ ;]" "$2" "$(dirname "$2")"/*.sh
}

# Where a command begins: a line, after ; & | ( ! and the words of the shell; in C and Python in what they start.
begins='(^|[;&|(!`]|if|then|do|else|exec|env|sudo) *'
starts='((system|popen)\("|subprocess\.[a-z_]+\(\[")'
files=$(find . \( -name build -o -name .git -o -name demo-output \) -prune -o \
  \( -name '*.sh' -o -path './tests/*.c' -o -path './tests/*.py' \) -print | sed 's|^\./||' | grep -v '^tests/repo/test_' | sort) # those hold what is refused
for file in $(echo "$files" | xargs grep -lwE "$elsewhere" || true); do
  case $file in *.sh) before=$begins ;; *) before=$starts ;; esac
  found=$(sed 's/^ *#.*//' "$file" | grep -noE "$before($elsewhere)( |\$|\")" || true)
  [ -n "$found" ] || continue
  for program in $(echo "$found" | sed -E 's/[ "]*$//; s/.*[^a-z0-9-]//' | sort -u); do
    looked_for "$program" "$file" || complain "$file starts $program, which cmake/setup.sh does not install, and does not look for it"
  done
done
for file in $(echo "$files" | grep '[.]sh$' | xargs grep -lw cmake || true); do
  if sed 's/^ *#.*//' "$file" | grep -E '(^|[^a-z/.-])cmake ' | grep -E ' -[SB]' | grep -vqE ' -G|--preset'; then
    complain "$file asks CMake for a build without -G or --preset: it would want make"
  fi
done
exit $bad
