#!/bin/sh
# browser.sh BIN: the page of a calibration whose every name is a script, opened in a real browser.
# The page must show the names and run none; the same page without its escapes must run them, or
# the browser proves nothing.  Skipped (77) where there is no Chromium.
set -eu
bin=$(cd "$1" && pwd)
here=$(cd "$(dirname "$0")" && pwd)
browser=$(command -v chromium || command -v chromium-browser || command -v google-chrome) || {
  echo "no Chromium here: apt-get install chromium"
  exit 77
}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"

open_page() { # open_page FILE : the document after its scripts had their time
  timeout 60 "$browser" --headless --no-sandbox --disable-gpu --disable-dev-shm-usage \
    --user-data-dir="$folder/profile" --virtual-time-budget=2000 --dump-dom "file://$folder/$1" 2>/dev/null
}

evil='<script>document.documentElement.setAttribute(\\"pwned\\",1)<\/script><img src=x onerror=\\"document.documentElement.setAttribute(`pwned`,1)\\"><svg onload=\\"document.documentElement.setAttribute(`pwned`,1)\\">'
sh "$here/../golden/in/samples.sh" >samples.jsonl
"$bin/forerun" fit samples.jsonl --json >fit.json
sed -E "s/(\"(op|level|host|hosts|cpu|kernel|mpi|blas|pinning|series|cluster|file|tool|setup|up_to|min|latency|per_byte)\": *)\"[^\"]*\"/\1\"$evil\"/g" \
  fit.json >evil.json
"$bin/forerun" report evil.json -o page.html >/dev/null || [ $? -eq 3 ]
grep -q 'pwned' page.html || { echo "the page does not show the names"; exit 1; }
grep -v Content-Security-Policy page.html |
  sed 's/&lt;/</g; s/&gt;/>/g; s/&quot;/"/g; s/&#96;/`/g; s/&#39;/'"'"'/g' >control.html

open_page control.html >control.dom || { echo "the browser does not start here"; exit 77; }
grep -q '<html[^>]* pwned="1"' control.dom || { echo "the browser runs no script at all"; exit 77; }
open_page page.html >page.dom
if grep -q '<html[^>]* pwned="1"' page.dom; then
  echo "a script of a name ran"
  exit 1
fi
grep -q '&lt;script&gt;' page.dom || { echo "the names are not shown"; exit 1; }
echo "no script ran; the names are shown as text"
