"""schemas.py ROOT BIN [keys|outputs]: the JSON Schemas of ROOT/docs/schemas against real documents, the program's own tables and
its readers.  Python's jsonschema is the independent implementation.  Skipped (77) without it.  One part or the
other: the keys, or what the verbs print.

- each is a schema, listed, shown and named by the documents that are of it;
- what every verb prints, and every preset, keeps to its schema;
- the plan's schema has the keys, words and bounds of `forerun list keys`;
- a key that a reader knows is in its document's schema, and what a schema refuses the reader refuses."""
import concurrent.futures
import copy
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

try:
    import jsonschema
    import warnings
    warnings.simplefilter("ignore", DeprecationWarning)  # RefResolver is what Debian 12 has
except ImportError:
    print("Skipped: no python3-jsonschema")
    sys.exit(77)

ROOT, BIN = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve()
GOLDEN = ROOT / "tests" / "golden"
ENV = dict(os.environ, PATH=f"{BIN}:{os.environ['PATH']}", LC_ALL="C", here=str(GOLDEN))
ENV.pop("FORERUN_DATA", None)
bad = 0


def complain(*words):
    global bad
    bad += 1
    print(*words)


def forerun(*words, text=None):
    return subprocess.run([str(BIN / "forerun"), *words], input=text, capture_output=True, text=True, env=ENV)


def load():
    store = {path.as_uri(): json.loads(path.read_text()) for path in sorted((ROOT / "docs" / "schemas").glob("*.json"))}
    found = {}
    for uri, schema in store.items():
        jsonschema.Draft202012Validator.check_schema(schema)
        resolver = jsonschema.RefResolver(uri, schema, store=store)
        found[uri.rsplit("/", 1)[1][:-5]] = jsonschema.Draft202012Validator(schema, resolver=resolver)
    return found


SCHEMAS = load()
checked = {name: 0 for name in SCHEMAS}


def holds(name, document, what):
    checked[name] += 1
    fault = jsonschema.exceptions.best_match(SCHEMAS[name].iter_errors(document))
    if fault:
        complain(f"{what}: {name}#/{'/'.join(map(str, fault.absolute_path))}: {fault.message[:200]}")


def of_its_own(document, what):
    """A document says which schema is its; a list of them, each; one line of a file its kind."""
    if isinstance(document, list):
        for one in document:
            of_its_own(one, what)
        return
    said = document.get("schema", "forerun/samples/1" if "kind" in document else "")
    name = said.split("/")[1] if said.startswith("forerun/") else ""
    if name not in SCHEMAS:
        complain(f"{what}: no schema of \"{said}\"")
    else:
        holds(name, document, what)


# ---- listed and shown ----------------------------------------------------------------------------

def tables():
    rows = json.loads(forerun("list", "schemas", "--json").stdout)["rows"]
    if sorted(row["name"] for row in rows) != sorted(SCHEMAS):
        complain("forerun list schemas does not list", set(SCHEMAS) ^ {row["name"] for row in rows})
    for row in rows:
        if not row["detail"] or not row["source"] or len(row["detail"]) > 126 or len(row["source"]) > 190:
            complain(f"{row['name']}: needs a title and a description that fit a row")
        if forerun("show", row["name"]).stdout != (ROOT / "docs" / "schemas" / f"{row['name']}.json").read_text():
            complain(f"forerun show {row['name']} is not its file")
    named = set()
    for top in "answer app calibrate models search sim real trust studies".split():
        for path in (ROOT / top).rglob("*.[ch]"):
            named |= set(re.findall(r'"forerun/([a-z-]+)/[0-9]+"', path.read_text()))
    if named - set(SCHEMAS):
        complain("documents without a schema:", *named - set(SCHEMAS))


# ---- what is printed -----------------------------------------------------------------------------

# One command a document that the frozen ones do not print, or not whole.
MORE = r"""
forerun predict --cluster dgx-h100 --model llama-3-8b --set tp=8 --explain --json
forerun predict --cluster frontier --model ffn-16384 --set tp=8 --explain --json --samples 10M
forerun predict --cluster dgx-a100 --model gpt-8.3b --set tp=8 --set pp=4 --set micro_batch=8 --set clock=slack --json
forerun predict --cluster a100-hdr --model gpt-8.3b --set tp=8 --set dp=4 --set micro_batch=8 --set compression.gradient.stages=1 --set compression.warm_up=10 --set iterations=100 --json
forerun predict --cluster dgx-h100 --model llama-3-8b --set tp=3 --json
forerun predict --cluster dgx-h100 --model llama-3-8b --set dp=12 --set global_batch=48 --json
forerun search --cluster dgx-h100 --model llama-3-8b --ranks 16 --set global_batch=64 --set micro_batch=1 --vary tp=1..8*2 --objective energy --max-slowdown 5% --json
forerun search --cluster dgx-h100 --model llama-3-8b --ranks 16 --set global_batch=64 --vary tp=1..8*2 --vary zero=0..3 --include '{"tp":2,"micro_batch":1}' --measured 2.5s --include '{"tp":8}' --tuned --json
forerun search --cluster dgx-h100 --model llama-3-8b --ranks 64 --set tp=8 --set global_batch=512 --vary model.sequence=2048..8192*2 --json
forerun search --cluster dgx-h100 --model llama-3-405b --ranks 8 --set tp=8 --set pp=1 --json
forerun search --cluster dgx-h100 --model in/hf.json --ranks 8 --set tp=8 --json
forerun compare --cluster dgx-h100 --model llama-3-8b --model llama-3-70b --ranks 16 --set tp=8 --json
forerun compare --runtime nemo-24.03 --runtime megatron-bridge-26.04 --cluster dgx-h100 --model llama-3-8b --set tp=4 --set dp=2 --json
forerun compare --runtime papers-2019 --runtime nemo-25.04 --cluster dgx-h100 --model mixtral-8x7b --ranks 16 --fix micro_batch=1 --tokens 1T --json
forerun place --cluster lassen --ranks 16 --ways 4 --placement all --json
forerun watch in/train.log --cluster dgx-h100 --price 2USD/h --json
forerun watch in/train.log --cluster dgx-h100 --follow --to-the-end --patience 0.2 --json
forerun generate --cluster dgx-h100 --model llama-3-8b --set tp=2 --json
forerun predict --cluster dgx-h100 --model llama-3-8b --set pass=forward --set model.sequence=1 --set model.cached=100 --json
forerun doctor --json
forerun list schemas --json
in/samples.sh >s.jsonl && forerun report s.jsonl --json
printf 'model,ranks,plan.tp,measured_s,measured_J,measured_at\nllama-3-8b,8,8,20,64000,device\nllama-3-8b,8,4,16,80000,plug\n' >m.csv && forerun tune --cluster dgx-h100 --runs m.csv --json
forerun tune --cluster dgx-h100 --runs in/runs.csv --out t.json >t.txt && forerun score --cluster t.json --runs in/runs.csv --by plan.tp --json
"""
# On real ranks, each as small as it goes; the lines they keep are documents too.
REAL = r"""
forerun search --cluster frontier --model ffn-4096 --ranks 8 --vary method=tensor,phantom --vary ghost=2,4 --checkpoint search-checkpoint.jsonl --json
forerun validate --cluster frontier --ranks 2 --app phantom --vary model.width=64 --vary ghost=2,4 --passes 1 --visit 0.01 --samples runs.jsonl --json
forerun quality --seeds 2 --steps 12 --every 4 --held-out 16 --rates 0.01 --loss 4 --set compression.backward.rank=2 --vary compression.backward.scope=none,all --vary compression.forward.rank=0,2 --samples trainings-of-plans.jsonl --out model.json --json
forerun iterations --width 64 --tp 2 --ghost 2,4 --seeds 1 --most 100 --samples trainings.jsonl --out model.json --json
forerun reproduce phantom --measured --same-batch --widths 32 --depths 1 --batch 16 --tp 2 --ghost 2 --seeds 1 --loss 0.15 --most 50 --samples i.log --out measured-iterations.json --json
forerun calibrate --ranks 2 --budget 2 --launches 1 --quick --only kernel,memory,gemm_fp64,all_reduce --size 8..1KiB*8 --samples samples.jsonl --out cluster.json --json
"""


def parse(text):
    """Documents one after the other; what is none (a trace behind it) ends them."""
    decoder, at = json.JSONDecoder(), 0
    text = text.lstrip()
    while at < len(text) and text[at] in "{[":
        document, at = decoder.raw_decode(text, at)
        yield document
        while at < len(text) and text[at].isspace():
            at += 1


def run(command):
    with tempfile.TemporaryDirectory() as folder:
        os.symlink(GOLDEN / "in", f"{folder}/in")
        done = subprocess.run(["sh", "-c", command], cwd=folder, env=ENV, capture_output=True, text=True,
                              stdin=subprocess.DEVNULL, timeout=240)
        files = {path.name: path.read_text() for path in pathlib.Path(folder).glob("*.json*")}
        return command, done, files


def outputs():
    frozen = subprocess.run([str(GOLDEN / "commands.sh")], capture_output=True, text=True, env=ENV).stdout
    commands = [line for line in frozen.splitlines() if " --json" in line and "plot" not in line and "r.html" not in line]
    commands += MORE.split("\n")[1:-1]
    if shutil.which("mpirun") and (BIN / "forerun-mpi").exists():
        commands += REAL.split("\n")[1:-1]
    else:
        print("no mpirun here: what real runs write is not checked")
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        for command, done, files in pool.map(run, commands):
            for document in parse(done.stdout):
                of_its_own(document, command)
            if command in REAL and done.returncode:
                complain(f"{command}: exit {done.returncode}: {done.stderr[-300:]}")
            for name, text in files.items():
                kept(name, text, command)
            if not done.stdout and done.returncode == 0:
                complain(f"{command}: prints nothing")


def kept(name, text, command):
    stem = name.split(".")[0]
    if name.endswith(".jsonl") and stem in SCHEMAS:
        for line in text.splitlines():
            holds(stem, json.loads(line), command)
    elif name in ("c.json", "cluster.json"):
        holds("cluster", json.loads(text), command)
    elif name in ("model.json", "measured-iterations.json"):
        holds(stem, json.loads(text), command)


# ---- what is read --------------------------------------------------------------------------------

def presets():
    for kind in "cluster", "model", "runtime":
        for path in sorted((ROOT / "presets" / kind).glob("*.json")):
            holds(kind, json.loads(path.read_text()), path.name)
    for path in sorted((ROOT / "presets" / "iterations").glob("*.json")):
        holds("measured-iterations", json.loads(path.read_text()), path.name)
    for path in sorted((GOLDEN / "in").glob("*.json")):
        if path.name in ("mlp.json", "stages.json"):
            holds("model", json.loads(path.read_text()), path.name)
    holds("config", {"cluster": "frontier", "path": ["/srv/clusters"]}, "by hand")


def at(schema, dotted):
    for part in dotted.split("."):
        schema = schema.get("properties", {}).get(part, {})
    return schema


def leaves(schema, way=""):
    for key, inside in schema["properties"].items():
        if "properties" in inside:
            yield from leaves(inside, f"{way}{key}.")
        else:
            yield way + key


def plan_keys():
    """Names, help, words and bounds, as `forerun list keys` has them from the table."""
    plan = SCHEMAS["plan"].schema
    rows = json.loads(forerun("list", "keys", "--json").stdout)["rows"]
    named = set(leaves(plan)) - {"schema", "$schema"}
    if {row["name"] for row in rows} != named:
        complain("keys of plans:", {row["name"] for row in rows} ^ named)
    for row in rows:
        key, words = at(plan, row["name"]), re.findall("`([^`]*)`", row["what"])
        if key.get("description") != re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", row["detail"]).replace("`", ""):
            complain(f"plan.{row['name']}: is described otherwise than in the table")
        if "schedule" in row["name"] or "placement" in row["name"]:
            continue  # names of rows, or what a user writes
        text = json.dumps(key)
        for word in words:
            if word not in ("false", "true") and json.dumps(word) not in text:
                complain(f"plan.{row['name']}: lacks {word}")
        if " to " in row["what"]:
            least, most = (float(eval(end.replace("^", "**"))) for end in row["what"].split(" to "))
            if (key["minimum"], key["maximum"]) != (least, most):
                complain(f"plan.{row['name']}: {key['minimum']} to {key['maximum']}, the table {row['what']}")


def facts():
    """Keys of a runtime's facts and their bounds, as `forerun list facts` has them from the table."""
    schema = SCHEMAS["runtime"].schema["$defs"]["fact"]["properties"]
    rows = json.loads(forerun("list", "facts", "--json").stdout)["rows"]
    if [row["name"] for row in rows] != schema["key"]["enum"]:
        complain("facts of runtimes:", {row["name"] for row in rows} ^ set(schema["key"]["enum"]))
    for row in rows:
        ends = re.fullmatch(r"([0-9.e+-]+) to ([0-9.e+-]+)", row["source"])
        if not ends or row["what"] == "plan":
            continue
        least, most = (float(end) for end in ends.groups())
        for value, right in (least, True), (most, True), (most * 1.001 + 1e-9, False), (least - 1e-9, False), ("1 us", False):
            fact = {"key": row["name"], "value": value}
            if SCHEMAS["runtime"].is_valid({"facts": [fact]}) != right:
                complain(f"{row['name']}: the schema {'refuses' if right else 'takes'} {value}")


READERS = {
    "runtime": ["models/job/runtime.c"],
    "cluster": ["models/job/cluster.c", "models/device", "models/network", "topology/levels.c"],
    "model": ["models/workload/workload.c", "models/workload/kind", "models/workload/layer_profile.c",
              "models/plan/iterations.c"],
    "plan": ["models/plan/schedule_order.c"],
    "config": ["models/job/own.c"],
    "samples": ["calibrate/samples"],
}


def properties(schema):
    """Every name of a property anywhere in @p schema."""
    if isinstance(schema, dict):
        yield from schema.get("properties", {})
        for inside in schema.values():
            yield from properties(inside)
    elif isinstance(schema, list):
        for inside in schema:
            yield from properties(inside)


def reader_keys():
    """Arrays of keys in the readers' sources: what they accept is in the schema."""
    array = re.compile(r"static const char \*const \w*keys\[\] = \{([^}]*)\}")
    for name, places in READERS.items():
        known, seen = set(properties(SCHEMAS[name].schema)), 0
        for place in places:
            path = ROOT / place
            for source in [path] if path.is_file() else sorted(path.rglob("*.c")):
                for body in array.findall(source.read_text()):
                    keys = set(re.findall(r'"(\w+)"', body))
                    seen += len(keys)
                    if keys - known:
                        complain(f"{source.name} reads what schema {name} lacks:", *sorted(keys - known))
        if seen == 0:
            complain(f"no keys found in the readers of {name}")


def objects(document, way=()):
    if isinstance(document, dict):
        yield way
        for key, inside in document.items():
            yield from objects(inside, way + (key,))
    elif isinstance(document, list):
        for i, inside in enumerate(document[:2]):
            yield from objects(inside, way + (i,))


def inside(document, way):
    for step in way:
        document = document[step]
    return document


def refused_alike():
    """An unknown key in any object, and a quantity that lost its unit, are refused by reader and schema both."""
    verb = {"cluster": ["collective", "--op", "all_reduce", "--ranks", "2", "--cluster", "-"],
            "model": ["predict", "--cluster", "dgx-h100", "--model", "-"],
            "runtime": ["predict", "--cluster", "dgx-h100", "--model", "llama-3-8b", "--runtime", "-"]}
    tried = 0
    for kind, name in [("cluster", "dgx-h100"), ("cluster", "frontier"), ("cluster", "cori-knl"), ("model", "gpt-8.3b"),
                       ("model", "alexnet"), ("model", "resnet-50"), ("model", "t5-large-mod"), ("model", "ffn-16384"), ("runtime", "primus-2026"),
                       ("runtime", "papers-2019"), ("runtime", "megatron-bridge-26.04")]:
        whole = json.loads((ROOT / "presets" / kind / f"{name}.json").read_text())
        wrong = []
        for way in objects(whole):
            changed = copy.deepcopy(whole)
            inside(changed, way)["nonsense"] = 1
            wrong.append((way, changed))
            for key, value in inside(whole, way).items():
                if isinstance(value, str) and re.match(r"^[0-9.]+ [A-Za-z/]+$", value):
                    changed = copy.deepcopy(whole)
                    inside(changed, way)[key] = value.split()[0]
                    wrong.append((way + (key,), changed))
        for way, changed in wrong:
            tried += 1
            if SCHEMAS[kind].is_valid(changed):
                complain(f"{name}: the schema takes a fault at {way}")
            if forerun(*verb[kind], text=json.dumps(changed)).returncode != 3:
                complain(f"{name}: the reader takes a fault at {way}")
    if tried < 40:
        complain(f"only {tried} faults tried")


PART = sys.argv[3] if len(sys.argv) > 3 else "all"
tables()
presets()
if PART != "outputs":
    plan_keys()
    facts()
    reader_keys()
    refused_alike()
if PART != "keys":
    outputs()
for schema in checked:
    if PART != "keys" and checked[schema] == 0 and schema not in ("plan", "check", "runs", "search-checkpoint", "trainings", "trainings-of-plans"):
        complain(f"no document of schema {schema} was checked")
print(f"{sum(checked.values())} documents of {sum(1 for n in checked.values() if n)} schemas checked")
sys.exit(bad > 0)
