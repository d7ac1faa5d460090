#!/bin/sh
# site.sh SOURCE OUT VERSION: the pages as a site in OUT/html, which works from files and loads nothing from elsewhere.
set -eu
source=$1 out=$2 version=$3
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$out"
rm -rf "$out/api" "$out/html"
if command -v doxygen >/dev/null; then
  {
    printf 'PROJECT_NAME = "Forerun, the C library"\nPROJECT_NUMBER = %s\n' "$version"
    printf 'INPUT = %s/library/include\nOUTPUT_DIRECTORY = %s\nHTML_OUTPUT = api\n' "$source" "$out"
    printf 'GENERATE_LATEX = NO\nOPTIMIZE_OUTPUT_FOR_C = YES\nEXTRACT_ALL = YES\nQUIET = YES\nWARNINGS = NO\nWARN_IF_DOC_ERROR = NO\n'
    printf 'MACRO_EXPANSION = YES\nEXPAND_ONLY_PREDEF = YES\nPREDEFINED = FORERUN_API=\nUSE_MDFILE_AS_MAINPAGE =\n'
    printf 'DISABLE_INDEX = NO\nSEARCHENGINE = YES\nHAVE_DOT = NO\nHTML_TIMESTAMP = NO\n'
  } >"$out/Doxyfile"
  doxygen "$out/Doxyfile" >/dev/null 2>"$out/doxygen.log" || { cat "$out/doxygen.log" >&2 && exit 1; }
fi
"${PYTHON:-python3}" "$here/prepare.py" "$source" "$out" "$version"
mkdocs build --quiet --strict --config-file "$out/mkdocs.yml"
# Material reads the index from a script where it finds one, which files may be (a request may not).
{
  printf '__search = { index: Promise.resolve('
  cat "$out/html/search/search_index.json"
  printf ') };\n'
} >"$out/html/search/search_index.js"
echo "the site is $out/html/index.html"
