#!/bin/sh
# check.sh BIN -- calibrate --check and --refresh from end to end, on simulated ranks, whose times are the
# same every time: as it was, exit 0; with one operation's samples at half their times, that operation
# is named and exit 1; --refresh measures it again and leaves every other line, and what is fitted to
# it, as it was; then --check is satisfied again.  Exit 77 (skipped) where there is no SMPI.
set -eu
bin=$(cd "$1" && pwd)
[ -x "$bin/forerun-smpi" ] || { echo 'skipped: forerun-smpi is not built (no smpirun)'; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
fail() { echo "check.sh: $*"; for f in said err; do [ -f $f ] && cat $f; done; exit 1; }
calibrate() { # calibrate OPTION... : into "said" and "err"; its exit code
  code=0
  "$bin/forerun" calibrate --launcher smpi:platform.xml --ranks 4 --launches 1 --reps 8 \
    --only broadcast,all_reduce,all_gather --size '64..1MiB*4' --samples s.jsonl "$@" \
    >said 2>err || code=$?
}
cat >truth.json <<END
{ "name": "simulated",
  "levels": [ { "name": "node", "ranks": 1, "latency": "1 us", "bandwidth": "100 GB/s" },
              { "name": "system", "ranks": 4, "latency": "10 us", "bandwidth": "1 GB/s" } ] }
END
"$bin/forerun" export simgrid --cluster truth.json --ranks 4 -o platform.xml
# Lines without their digests, as whoever changes them on purpose leaves them (docs/reference/formats.md).
plain() { sed 's/\(, "question": "[0-9a-f]*"\)*, "digest": "[0-9a-f]*"}$/}/'; }
calibrate --out c.json
[ "$code" = 0 ] || fail "calibrate: exit $code"
cp s.jsonl measured.jsonl
cp c.json measured.json

calibrate --check
[ "$code" = 0 ] || fail "--check of what was just measured: exit $code"
grep -q 'is as it was calibrated' said || fail 'no word of it'
cmp -s s.jsonl measured.jsonl || fail '--check changed the samples'

awk '/"op": "broadcast"/ && match($0, /"time_s": [-+.0-9e]*/) {
    time = substr($0, RSTART + 10, RLENGTH - 10)
    $0 = substr($0, 1, RSTART + 9) sprintf("%.17g", time / 2) substr($0, RSTART + RLENGTH)
  } { print }' measured.jsonl | plain >s.jsonl
cmp -s s.jsonl measured.jsonl && fail 'nothing was doctored'
calibrate --check
[ "$code" = 1 ] || fail "--check of a machine at half its speed in one operation: exit $code"
grep -q 'not as it was calibrated: broadcast slower' err || fail 'broadcast alone is slower'

cp s.jsonl doctored.jsonl
calibrate --refresh --out c.json
[ "$code" = 0 ] || fail "--refresh: exit $code"
for file in doctored s; do grep -v broadcast $file.jsonl | plain >$file.rest; done
cmp -s doctored.rest s.rest || fail '--refresh changed lines of other operations'
calibrate --check --json
[ "$code" = 0 ] || fail "--check after --refresh: exit $code"
# As its schema has it, where there is an independent reader of schemas.
python3=$(for p in /usr/bin/python3 python3; do "$p" -c 'import jsonschema' 2>/dev/null && echo "$p" && break; done) || :
if [ -n "$python3" ]; then
  "$bin/forerun" show check >schema.json
  "$python3" -c 'import json, jsonschema
jsonschema.validate(json.load(open("said")), json.load(open("schema.json")))' || fail 'not as docs/schemas/check.json has it'
fi
# Line by line, the cluster file is that of the first calibration but for what broadcast's samples say.
part() { awk -v op="$2" '$0 ~ "^  \"" op "\":" { on = 1 } on && /^  }/ { on = 0 } on' "$1"; }
for op in all_reduce all_gather; do
  part c.json $op >now
  part measured.json $op >then
  [ -s now ] || fail "no $op in the cluster file"
  cmp -s now then || fail "--refresh changed the fit of $op"
done
