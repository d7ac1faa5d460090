#!/bin/sh
# browser.sh BIN: the page of a calibration whose every name is a script, opened in a real browser.
# The page must show the names and run none; the same page without its escapes must run them, or
# the browser proves nothing.  Then pages of results: their own script, which the policy names by its
# hash, makes every table sort and filter, and the pictures show.  Skipped (77) where there is no Chromium.
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

# A policy by hash lets this script run and no other.
"$bin/forerun" search --cluster frontier --model ffn-16384 --ranks 8,16,32 --vary method=tensor,phantom \
  --vary ghost=2,4,6,16 --objective energy --explain --json >search.json
"$bin/forerun" report search.json -o result.html
sed -n '/^<script>/,/<\/script>/p' result.html | sed 's/^<script>//; s/<\/script>$//' |
  head -c -1 >script.js
hash=$(openssl dgst -sha256 -binary <script.js | base64)
grep -q "script-src 'sha256-$hash'" result.html || { echo "the policy names another script: sha256-$hash"; exit 1; }
open_page result.html >result.dom
grep -q '<input type="search" placeholder="filter 6 rows">' result.dom || { echo "tables got no filter"; exit 1; }

# The test's own script, in a page whose policy is taken out: clicks a head, filters, measures a picture.
{
  grep -v Content-Security-Policy result.html | sed '$d'
  cat <<'END'
<script>
const all = [...document.querySelectorAll('table.s')].find(t => t.tBodies[0].rows.length === 6)
const head = [...all.tHead.rows[0].cells].findIndex(c => c.textContent === 'iteration time')
const order = () => [...all.tBodies[0].rows].map(r => +r.cells[head].dataset.v)
const sorted = (way) => order().every((v, i, a) => !i || way * (v - a[i - 1]) >= 0)
all.tHead.rows[0].cells[head].click()
const up = sorted(1)
all.tHead.rows[0].cells[head].click()
const down = sorted(-1)
const find = all.parentNode.parentNode.querySelectorAll('input')
const own = [...find].find(f => f.placeholder === 'filter 6 rows')
own.value = 'tensor'
own.oninput()
const left = [...all.tBodies[0].rows].filter(r => !r.hidden)
const filtered = left.length > 0 && left.length < 6 && left.every(r => r.textContent.includes('tensor'))
window.onload = () => {
  const pictures = [...document.images].filter(i => i.naturalWidth > 100).length
  document.documentElement.setAttribute('tried', [up, down, filtered, pictures].join())
}
</script></body></html>
END
} >tried.html
open_page tried.html >tried.dom
pictures=3
command -v gnuplot >/dev/null || pictures=0
grep -q "<html[^>]* tried=\"true,true,true,$pictures\"" tried.dom || {
  echo "sorted up, down, filtered, pictures: $(grep -o 'tried="[^"]*"' tried.dom)"
  exit 1
}
echo "a page of results sorts, filters and shows $pictures pictures"

# One page of every other kind of result: each has its heading, its picture, and tables that the script took up.
"$bin/forerun" predict --cluster a100-hdr --model gpt-8.3b --set tp=8 --set pp=4 --set dp=4 --json >outcome.json
"$bin/forerun" simulate --cluster a100-hdr --model gpt-2.5b --set tp=4 --set pp=4 --set dp=8 --json >simulation.json
"$bin/forerun" reproduce dsp --json >paper.json
for kind in validate score quality clusters; do cp "$here/../plots/fixtures/$kind.json" .; done
"$bin/forerun" report outcome.json simulation.json validate.json score.json quality.json clusters.json paper.json -o kinds.html
{
  grep -v Content-Security-Policy kinds.html | sed '$d'
  cat <<'END'
<script>
window.onload = () => {
  const tables = [...document.querySelectorAll('table.s')]
  const taken = tables.filter(t => t.parentNode.parentNode.querySelector('input[type=search]'))
  const pictures = [...document.images].filter(i => i.naturalWidth > 100).length
  document.documentElement.setAttribute('tried', [tables.length > 4, tables.length === taken.length, pictures].join())
}
</script></body></html>
END
} >tried.html
open_page tried.html >tried.dom
pictures=13
command -v gnuplot >/dev/null || pictures=0
grep -q "<html[^>]* tried=\"true,true,$pictures\"" tried.dom || {
  echo "tables, all taken up, pictures: $(grep -o 'tried="[^"]*"' tried.dom)"
  exit 1
}
for kind in outcome simulation validate score quality clusters reproduce; do
  grep -q "forerun/$kind/1" tried.dom || { echo "no $kind on the page"; exit 1; }
done
echo "a page of seven kinds of results shows $pictures pictures"
