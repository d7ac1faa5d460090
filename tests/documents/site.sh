#!/bin/sh
# site.sh ROOT [open]: the site of the pages is built, all its links lead somewhere, nothing is loaded from elsewhere.
# With `open`, in a browser: no page is wider than a phone (390) or a laptop (1280), no script fails, and search finds.
# Skipped (77) without mkdocs and its theme, or without a browser.
set -eu
root=$(cd "$1" && pwd)
python=${PYTHON:-python3}
command -v mkdocs >/dev/null && [ -d /usr/share/mkdocs/themes/material ] || {
  echo "Skipped: apt install mkdocs mkdocs-material"
  exit 77
}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"$root/cmake/site/site.sh" "$root" "$folder" test >/dev/null
"$python" "$root/tests/repo/links.py" "$root" "$folder/html"

[ "${2:-}" = open ] || exit 0

browser=$(command -v chromium || command -v chromium-browser || command -v google-chrome) || {
  echo "Skipped: apt install chromium"
  exit 77
}
open_page() { # open_page ADDRESS : the document after its scripts had their time; what they complain of in console
  timeout 400 "$browser" --headless --no-sandbox --disable-gpu --disable-dev-shm-usage --allow-file-access-from-files \
    --user-data-dir="$folder/profile" --virtual-time-budget=20000 --enable-logging=stderr --dump-dom "$1" 2>>"$folder/console"
}

pages=$(cd "$folder/html" && ls index.html gallery.html glossary.html reference/commands.html reference/plan-keys.html \
  reference/compositions.html explanation/*.html how-to/*.html tutorial.html evidence/README.html evidence/index.html 2>/dev/null) || true
cat >"$folder/html/widths.html" <<END
<!doctype html><title>waiting</title><pre id="said"></pre><script>
const pages = \`$pages\`.split('\n').filter(p => p), widths = [390, 1280], jobs = []
for (const p of pages) for (const w of widths) jobs.push([p, w])
function next() {
  const job = jobs.pop(), said = document.getElementById('said')
  if (!job) return said.textContent += 'all were opened'
  const frame = document.createElement('iframe')
  frame.width = job[1], frame.height = 900, frame.src = job[0]
  frame.onload = () => setTimeout(() => {
    const wide = frame.contentDocument.documentElement.scrollWidth
    if (wide > job[1]) said.textContent += job[0] + ' is ' + wide + ' wide at ' + job[1] + '\n'
    frame.remove(), next()
  }, 50)
  document.body.append(frame)
}
next()
</script>
END
said=$(open_page "file://$folder/html/widths.html" | sed -n '/id="said"/,/<\/pre>/s/<[^>]*>//gp')
case $said in
*"all were opened"*) ;;
'') echo "Skipped: the browser does not start here, or not in time" && exit 77 ;;
*) echo "not all pages could be opened: $said" && exit 1 ;;
esac
! printf '%s\n' "$said" | grep ' wide at ' || exit 1

open_page "file://$folder/html/index.html?q=recompute" | grep -q 'md-search-result__item' || {
  echo "search finds nothing"
  exit 1
}
! grep 'CONSOLE.*\(Uncaught\|Error\|Failed\)' "$folder/console" || exit 1
