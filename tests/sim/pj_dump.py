"""pj_dump.py FORERUN -- Paje traces in the real reader, pj_dump (Debian's pajeng): its last end is the iteration's.

pj_dump is looked for on PATH and in the folders of FORERUN_TOOLS (separated by ":"); without it the test is skipped.  It
prints microseconds."""
import json
import os
import shutil
import subprocess
import sys
import tempfile

FORERUN = sys.argv[1]
PLANS = [f"pp={pp} global_batch={batch} schedule={schedule}" for pp in (2, 4) for batch in (4, 8)
         for schedule in ("1f1b", "gpipe", "zero-bubble")]


def main():
    folders = os.environ.get("FORERUN_TOOLS", "") + os.pathsep + os.environ.get("PATH", "")
    tool = shutil.which("pj_dump", path=folders)
    if not tool:
        print("skipped: no pj_dump on PATH or in the folders of FORERUN_TOOLS")
        return 77
    wrong = 0
    with tempfile.TemporaryDirectory() as scratch:
        model, trace = os.path.join(scratch, "m.json"), os.path.join(scratch, "t.paje")
        with open(model, "w", encoding="utf-8") as file:
            json.dump({"kind": "stages", "forward": "1 ms", "backward": "2 ms", "message": "1 MB"}, file)
        for plan in PLANS:
            sets = [word for key in plan.split() for word in ("--set", key)]
            said = subprocess.run([FORERUN, "simulate", "--cluster", "a100-hdr", "--model", model, *sets, "--trace", trace,
                                   "--json"], check=True, capture_output=True, text=True).stdout
            want = json.loads(said)["outcome"]["iteration_time_s"]
            dump = subprocess.run([tool, trace], check=True, capture_output=True, text=True).stdout
            rows = [line.split(", ") for line in dump.splitlines()]
            got = max(float(row[4]) for row in rows if row[0] in ("State", "Link"))
            good = abs(got - want) <= 1e-6
            wrong += not good
            print(f"{'' if good else 'NOT '}{plan}: got {got} s, wanted {want} s")
    return wrong > 0


sys.exit(main())
