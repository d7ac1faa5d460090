#!/bin/sh
# layers.sh ROOT FOLDER [DEP,DEP] -- FOLDER may include its own headers, those of its DEPS, and
# those of what these list in turn in CMakeLists.txt; base lies below everything.  A header
# belongs to the innermost module or street that holds it, so calibrate does not own
# calibrate/measure/harness; who may include a module may include its streets.  A list of rows
# (x_list.h: names alone) may be read from further down its module: so a table that plans choose
# from has its objects further up.
# Outside libraries are seen by one folder each; the public header by library, which it is the face of.
set -eu
root=$1 folder=$2 deps=${3-}

# "header-pattern|folders that may include it"
libraries='
jansson[.]h|base
mpi[.]h|calibrate/measure/harness real/apps app/ranks
cblas[.]h|calibrate/measure/harness real/apps
openblas_config[.]h|calibrate/measure/harness
gsl/.*|trust calibrate real
hwloc[.]h|topology calibrate/measure/harness
simgrid/.*|sim/network/simgrid
cmocka[.]h|tests'

# One "fr_module folder dep dep" line for each, comments and USES left out.
modules=$(sed 's/#.*//' "$root/CMakeLists.txt" | tr '\n' ' ' | grep -oE 'fr_(module|street) *\([^)]*\)' |
  sed -E 's/ *\( */ /; s/ *\)//; s/ USES .*//; s/ DEPS / /; s/ +/ /g')

cd "$root"
includes=$(grep -rnE '^[[:space:]]*#[[:space:]]*include' "$folder" --include='*.[ch]' || true)

printf '%s\n--\n%s\n--\n%s\n' "$modules" "$libraries" "$includes" |
  awk -v folder="$folder" -v deps="$deps" '
    function owner(path,   best, m) {
      best = ""
      for (m in deps_of)
        if (index(path, m "/") == 1 && length(m) > length(best)) best = m
      return best
    }
    function allow(m,   list, n, i) {
      if (m == "" || m in allowed) return
      allowed[m] = 1
      n = split(deps_of[m], list, " ")
      for (i = 1; i <= n; i++) allow(list[i])
    }
    function complain(why) {
      print place ": " why
      bad = 1
    }
    function check_module(header,   of) {
      if (folder == "library" && header ~ "^forerun(_verbs)?[.]h$") return # the two public ones, of each other
      if (header ~ "^library/include/") {
        if (folder != "library") complain("\"" header "\" is for users, and seen by library only")
        return
      }
      of = owner(header)
      if (of == "") complain("\"" header "\" belongs to no module; include \"<folder>/<file>.h\"")
      else if (header ~ /_list[.]h$/ && street_of[of] != "" && street_of[of] == street_of[folder]) return
      else if (!(of in allowed))
        complain("\"" header "\" belongs to " of ", but " folder " may include only:" names)
    }
    function check_library(header,   p, l, n, list, ok) {
      for (p in seen_by) {
        if (header !~ "^" p "$") continue
        ok = 0
        n = split(seen_by[p], list, " ")
        for (l = 1; l <= n; l++) ok = ok || list[l] == folder || list[l] == street_of[folder]
        if (!ok) complain("<" header "> is seen by " seen_by[p] " only")
      }
    }
    /^--$/ { part++; if (part == 2) settle(); next }
    function settle(   m, n, i, list) {
      deps_of["base"] = deps_of["base"]
      n = split(deps, list, ",")
      for (i = 1; i <= n; i++) allow(list[i])
      allow(folder)
      allow("base")
      for (m in allowed) names = names " " m
    }
    part == 0 && NF {
      m = $2
      if ($1 == "fr_street") {
        whole = m
        sub("/[^/]*$", "", whole)
        street_of[m] = whole
        deps_of[whole] = deps_of[whole] " " m
      }
      $1 = $2 = ""
      deps_of[m] = deps_of[m] $0
      next
    }
    part == 1 && NF { split($0, row, "|"); seen_by[row[1]] = row[2]; next }
    part == 2 && NF {
      n = split($0, field, ":")
      place = field[1] ":" field[2]
      if (owner(field[1]) != folder) next
      quoted = match($0, /"[^"]+"/)
      if (!quoted && !match($0, /<[^>]+>/)) { complain("an include by macro hides its layer"); next }
      header = substr($0, RSTART + 1, RLENGTH - 2)
      check_library(header)
      if (quoted || owner(header) != "") check_module(header)
    }
    END { exit bad }'

# gnuplot is started by plots alone, which hands it its scripts.
[ "$folder" = plots ] && exit 0
if grep -rnE '"([^"]*/)?gnuplot"' "$folder" --include='*.[ch]'; then
  echo "gnuplot is started by plots only"
  exit 1
fi
