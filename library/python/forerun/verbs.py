"""Verbs of the program as functions.  Written by `ninja documents` from their tables of options: not edited by hand.

Each returns the document that --json prints, or the text of a verb that has none."""

from typing import Union

from .program import ask as _ask
from .results import Figure, Result, Text, Value

__all__ = ["generate", "import_", "report", "tune", "score", "watch", "plot", "reproduce", "collective", "gemm", "discover", "export", "compare", "compare_plans", "doctor", "share", "show", "list_"]


_generate = {
    "cluster": ("cluster", "FILE|PRESET", False),
    "model": ("model", "FILE|PRESET", False),
    "runtime": ("runtime", "FILE|PRESET", False),
    "defaults": ("defaults", "WORD", False),
    "plan": ("plan", "FILE", False),
    "set": ("set", "KEY=VALUE", True),
    "undisturbed": ("undisturbed", None, False),
    "prompt": ("prompt", "N", False),
    "tokens": ("tokens", "N", False),
    "batch": ("batch", "N", False),
    "json": ("json", None, False),
    "page": ("page", "FILE", False),
    "force": ("force", None, False),
}


def generate(*words: Value,
             cluster: Value = None,
             model: Value = None,
             runtime: Value = None,
             defaults: Value = None,
             plan: Value = None,
             set: Value = None,
             undisturbed: bool = False,
             prompt: Value = None,
             tokens: Value = None,
             batch: Value = None,
             page: Value = None,
             force: bool = False) -> Result:
    """time and energy of generating tokens, memory of the cache

    forerun generate --cluster C --model M [--plan P] [--set KEY=VALUE]... [--prompt N] [--tokens N] [--batch N] [--json]

    cluster  cluster file, preset, or - for standard input
    model  model file, preset, or -
    runtime  software with a date: a release of a framework (forerun list runtimes), a file, or -; without it the newest that suits cluster and model
    defaults  2019: the same as --runtime papers-2019; modern: the newest runtime that suits
    plan  plan file, or what predict or search printed with --json; without it every key has its default
    set  change an input: ghost=16, model.layers=4, cluster.device.launch=5us
    undisturbed  predict for an idle machine, not under typical load
    prompt  tokens of each prompt (default 1024)
    tokens  tokens that each sample gets, at least 2 (default 256)
    batch  samples that generate at once (default 1)
    page  write the answer as one HTML page with live figures, too
    force  replace a page or picture that is there
    """
    values = {key: value for key, value in locals().items() if key != "words"}
    return _ask("generate", _generate, words, values)


_import_ = {
    "ranks": ("ranks", "N", False),
    "nodes": ("nodes", "N", False),
    "ranks_per_node": ("ranks-per-node", "N", False),
    "op": ("op", "NAME", False),
    "system": ("system", "TEXT", False),
    "setup": ("setup", "TEXT", False),
    "dtype": ("dtype", "NAME", False),
    "only": ("only", "COLUMN=VALUE", True),
    "column": ("column", "KEY=VALUE", True),
    "ignore": ("ignore", "NAME", True),
    "power": ("power", "FILE", True),
    "strict": ("strict", None, False),
    "scale_power": ("scale-power", None, False),
    "out": ("out", "FILE", False),
}


def import_(*words: Value,
            ranks: Value = None,
            nodes: Value = None,
            ranks_per_node: Value = None,
            op: Value = None,
            system: Value = None,
            setup: Value = None,
            dtype: Value = None,
            only: Value = None,
            column: Value = None,
            ignore: Value = None,
            power: Value = None,
            strict: bool = False,
            scale_power: bool = False,
            out: Value = None) -> Text:
    """read nccl-tests, rccl-tests, OSU or IMB output and tables as samples, published training runs, MLPerf's power logs and trainers' logs as runs

    forerun import KIND FILE... [--ranks N] [--nodes N] [--system TEXT] [-o FILE]

    ranks  ranks that took part, where the files do not say
    nodes  nodes they were on
    ranks_per_node  ranks on each node
    op  collective of nccl-tests files that do not say
    system  whose machine; files of different systems are never fitted together
    setup  how it was set up; the same holds
    dtype  of products whose table does not say it
    only  rows of a table of products to take; repeatable
    column  of the runs.csv, what a log does not say: model=, plan.tp=
    ignore  a setting of a trainer's file to leave out of account; may be repeated
    power  with one trainer's log: what a node drew, a file a node; repeatable
    strict  with several files: one that cannot be read ends it, none is skipped
    scale_power  devices of --power stand for as many as the run has ranks
    out  where samples go (default: standard output)
    """
    values = {key: value for key, value in locals().items() if key != "words"}
    return _ask("import", _import_, words, values)


_report = {
    "output": ("output", "FILE", False),
    "series": ("series", "TEXT", False),
    "json": ("json", None, False),
    "page": ("page", "FILE", False),
    "force": ("force", None, False),
}


def report(*words: Value,
           output: Value = None,
           series: Value = None,
           page: Value = None,
           force: bool = False) -> Union[Result, Text]:
    """a calibration, or any result, as one HTML page: answer, live figures, tables

    forerun report SAMPLES...|FIT.json [-o report.html] [--json]
       forerun report RESULT.json... -o report.html

    output  page to write (default: none)
    series  of several series fit those that have TEXT in their name
    page  write the answer as one HTML page with live figures, too
    force  replace a page or picture that is there
    """
    values = {key: value for key, value in locals().items() if key != "words"}
    return _ask("report", _report, words, values)


_tune = {
    "cluster": ("cluster", "FILE|PRESET", False),
    "runs": ("runs", "FILE", True),
    "where": ("where", "COLUMN=VALUE", True),
    "out": ("out", "FILE", False),
    "save_runtime": ("save-runtime", "FILE", False),
    "hold": ("hold", "NAMES", False),
    "always": ("always", None, False),
    "set": ("set", "KEY=VALUE", True),
    "runtime": ("runtime", "FILE|PRESET", False),
    "defaults": ("defaults", "YEAR", False),
    "json": ("json", None, False),
    "page": ("page", "FILE", False),
    "force": ("force", None, False),
}


def tune(*words: Value,
         cluster: Value = None,
         runs: Value = None,
         where: Value = None,
         out: Value = None,
         save_runtime: Value = None,
         hold: Value = None,
         always: bool = False,
         set: Value = None,
         runtime: Value = None,
         defaults: Value = None,
         page: Value = None,
         force: bool = False) -> Result:
    """device, host, network and power coefficients from measured training runs

    forerun tune [--cluster C] --runs RUNS.csv [--where COLUMN=VALUE]... [--out cluster.json] [--save-runtime runtime.json] [--hold NAMES] [--always] [--json]

    cluster  cluster file, preset, or - for standard input
    runs  measured runs: a runs.csv, or a published file; may be repeated
    where  only rows with this value; may be repeated: all must hold
    out  cluster file to write; - for standard output (default: none)
    save_runtime  runtime file to write: what software makes of devices, apart from what they are
    hold  coefficients to leave as they are: fixed,node_latency
    always  move what the runs do not refute, too
    set  change an input: ghost=16, model.layers=4, cluster.device.launch=5us
    runtime  software of rows that name none: a release of a framework
    defaults  modern (today's software) or 2019, for rows that do not say
    page  write the answer as one HTML page with live figures, too
    force  replace a page or picture that is there
    """
    values = {key: value for key, value in locals().items() if key != "words"}
    return _ask("tune", _tune, words, values)


_score = {
    "cluster": ("cluster", "FILE|PRESET", False),
    "runs": ("runs", "FILE", True),
    "from_": ("from", "LOG", True),
    "column": ("column", "KEY=VALUE", True),
    "ignore": ("ignore", "NAME", True),
    "where": ("where", "COLUMN=VALUE", True),
    "by": ("by", "COLUMNS", False),
    "set": ("set", "KEY=VALUE", True),
    "runtime": ("runtime", "FILE|PRESET", False),
    "defaults": ("defaults", "YEAR", False),
    "all": ("all", None, False),
    "json": ("json", None, False),
    "page": ("page", "FILE", False),
    "force": ("force", None, False),
}


def score(*words: Value,
          cluster: Value = None,
          runs: Value = None,
          from_: Value = None,
          column: Value = None,
          ignore: Value = None,
          where: Value = None,
          by: Value = None,
          set: Value = None,
          runtime: Value = None,
          defaults: Value = None,
          all: bool = False,
          page: Value = None,
          force: bool = False) -> Result:
    """predictions beside measured runs: error, rank, regret, coverage

    forerun score [--cluster C] --runs RUNS.csv [--where COLUMN=VALUE]... [--by COLUMNS] [--json]

    cluster  cluster file, preset, or - for standard input
    runs  measured runs: a runs.csv, or a published file; may be repeated
    from_  a trainer's log, as --runs takes it, too; may be repeated
    column  of every log, what it does not say: model=, ranks=, plan.tp=
    ignore  a setting of a trainer's file to leave out of account; may be repeated
    where  only rows with this value; may be repeated: all must hold
    by  a score for each value of these columns, e.g. model.hidden,plan.tp
    set  change an input: ghost=16, model.layers=4, cluster.device.launch=5us
    runtime  software of rows that name none: a release of a framework
    defaults  modern (today's software) or 2019, for rows that do not say
    all  everything that the short answer leaves out: all tables, all reasons
    page  write the answer as one HTML page with live figures, too
    force  replace a page or picture that is there
    """
    values = {key: value for key, value in locals().items() if key != "words"}
    return _ask("score", _score, words, values)


_watch = {
    "cluster": ("cluster", "FILE|PRESET", False),
    "model": ("model", "FILE|PRESET", False),
    "plan": ("plan", "FILE", False),
    "set": ("set", "KEY=VALUE", True),
    "column": ("column", "KEY=VALUE", True),
    "ignore": ("ignore", "NAME", True),
    "runtime": ("runtime", "FILE|PRESET", False),
    "defaults": ("defaults", "YEAR", False),
    "follow": ("follow", None, False),
    "to_the_end": ("to-the-end", None, False),
    "patience": ("patience", "TIME", False),
    "steps": ("steps", "N", False),
    "tokens": ("tokens", "N", False),
    "samples": ("samples", "N", False),
    "price": ("price", "Q", False),
    "carbon": ("carbon", "Q", False),
    "pue": ("pue", "X", False),
    "json": ("json", None, False),
}


def watch(*words: Value,
          cluster: Value = None,
          model: Value = None,
          plan: Value = None,
          set: Value = None,
          column: Value = None,
          ignore: Value = None,
          runtime: Value = None,
          defaults: Value = None,
          follow: bool = False,
          to_the_end: bool = False,
          patience: Value = None,
          steps: Value = None,
          tokens: Value = None,
          samples: Value = None,
          price: Value = None,
          carbon: Value = None,
          pue: Value = None) -> Result:
    """a run in flight beside its prediction: what is off, when it ends

    forerun watch LOG --cluster C [--plan P] [--model M] [--set KEY=VALUE]... [--follow] [--json]

    cluster  cluster file, preset, or - for standard input
    model  of a log that does not describe its model
    plan  plan file, or a trainer's script: what the log leaves open of the plan
    set  of cluster, model or plan; goes before what the log says
    column  of the run, as score takes it: ranks=, id=
    ignore  a setting of a trainer's file to leave out of account; may be repeated
    runtime  software of rows that name none: a release of a framework
    defaults  modern (today's software) or 2019, for rows that do not say
    follow  go on while the log grows, with an answer after each timed line
    to_the_end  of --follow: go on, too, when the run is outside its interval
    patience  of --follow: end when nothing was written for so long, e.g. 10m (default: wait on)
    steps  of the whole run, where the log does not say
    tokens  the same in tokens: 1T, 300B, 2e12
    samples  the same in samples
    price  of a device, e.g. \"2.5 USD/h\": money of the whole run
    carbon  of the electricity, e.g. \"0.4 kg/kWh\": its CO2
    pue  power usage effectiveness of the building, in place of the cluster's
    """
    values = {key: value for key, value in locals().items() if key != "words"}
    return _ask("watch", _watch, words, values)


_plot = {
    "output": ("output", "FILE", False),
    "format": ("format", "NAME", False),
    "title": ("title", "TEXT", False),
    "no_title": ("no-title", None, False),
    "width": ("width", "LENGTH", False),
    "font": ("font", "NAME,SIZE", False),
    "x": ("x", "KEY", False),
    "from_": ("from", "TIME", False),
    "to": ("to", "TIME", False),
    "keep_script": ("keep-script", None, False),
    "force": ("force", None, False),
}


def plot(*words: Value,
         output: Value = None,
         format: Value = None,
         title: Value = None,
         no_title: bool = False,
         width: Value = None,
         font: Value = None,
         x: Value = None,
         from_: Value = None,
         to: Value = None,
         keep_script: bool = False,
         force: bool = False) -> Union[Figure, Text]:
    """draw a figure from the JSON of other commands

    forerun plot FIGURE INPUT... -o FILE.svg|png|pdf
       forerun plot [paper] PAPER.json -o FOLDER

    output  picture to write: .svg, .png or .pdf; of paper a folder
    format  of a folder's pictures: svg, png or pdf (default svg)
    title  instead of the figure's own
    no_title  none: a caption says it
    width  of the picture: 3.3in, 84mm, 240pt (paper: 3.3in as it is)
    font  family, size [pt] or both (default DejaVu Sans,9)
    x  of energy-time: what to draw against, e.g. model.sequence (default: ranks, or what varies)
    from_  of gantt: draw the part from there on, e.g. 120ms
    to  of gantt: and up to there
    keep_script  leave the gnuplot script and its data beside the picture
    force  replace a page or picture that is there
    """
    values = {key: value for key, value in locals().items() if key != "words"}
    return _ask("plot", _plot, words, values)


_reproduce = {
    "markdown": ("markdown", None, False),
    "latex": ("latex", None, False),
    "update": ("update", "FILE", True),
    "measured": ("measured", None, False),
    "quality": ("quality", "FILE", False),
    "widths": ("widths", "RANGE", False),
    "depths": ("depths", "RANGE", False),
    "out": ("out", "FILE", False),
    "cluster": ("cluster", "FILE|PRESET", False),
    "width": ("width", "N", False),
    "layers": ("layers", "N", False),
    "batch": ("batch", "N", False),
    "same_batch": ("same-batch", None, False),
    "tp": ("tp", "RANGE", False),
    "ghost": ("ghost", "RANGE", False),
    "loss": ("loss", "X", False),
    "rate": ("rate", "X", False),
    "seeds": ("seeds", "N", False),
    "most": ("most", "N", False),
    "samples": ("samples", "FILE", False),
    "resume": ("resume", None, False),
    "patience": ("patience", "TIME", False),
    "force": ("force", None, False),
    "wide": ("wide", None, False),
    "json": ("json", None, False),
    "page": ("page", "FILE", False),
}


def reproduce(*words: Value,
              markdown: bool = False,
              latex: bool = False,
              update: Value = None,
              measured: bool = False,
              quality: Value = None,
              widths: Value = None,
              depths: Value = None,
              out: Value = None,
              cluster: Value = None,
              width: Value = None,
              layers: Value = None,
              batch: Value = None,
              same_batch: bool = False,
              tp: Value = None,
              ghost: Value = None,
              loss: Value = None,
              rate: Value = None,
              seeds: Value = None,
              most: Value = None,
              samples: Value = None,
              resume: bool = False,
              patience: Value = None,
              force: bool = False,
              wide: bool = False,
              page: Value = None) -> Result:
    """the papers' tables and figures, published beside ours

    forerun reproduce [NAME...] [--measured] [--quality FILE] [--update FILE] [--wide|--latex|--markdown|--json]

    markdown  as a table to paste; of training, energy and memory the tables of docs/evidence/
    latex  as a longtable, to paste
    update  write these tables between the marks of FILE (docs/evidence/, docs/explanation/accuracy.md); may be repeated
    measured  phantom: iterations to a loss that were measured, instead of the paper's numbers; with any option below it trains for real
    quality  optimus, dsp: the paper's claims of model quality beside this result of forerun quality --json
    widths  phantom --measured: at several widths, each at the best of four rates
    depths  and of so many layers (default --layers)
    out  with --widths: the table that was measured, as the one that ships
    cluster  with --measured: what an iteration costs (default frontier)
    width  of the network (default 1024)
    layers  of the network (default 2)
    batch  samples of an iteration (default 128)
    same_batch  every iteration on the same samples, not on new ones
    tp  ranks p of phantom parallelism (default 2,4,8)
    ghost  ghost neurons k (default: doubled and halved until the best k by energy to the loss has a larger and a smaller one beside it)
    loss  mean squared error to reach (default 0.12)
    rate  Adam's, of all networks alike (default 1 / width)
    seeds  trainings of each (default 3)
    most  iterations after which a training gives up (default 4000)
    samples  where results go as they come (default iterations.jsonl)
    resume  go on with the samples file; what is trained is not repeated
    patience  without a sign of life or progress of a rank, or of the launcher, before the job is ended (default 30 s)
    force  replace the samples file, and a page, if they are there
    wide  a row on one line, however long, not in 80 columns
    page  write the answer as one HTML page with live figures, too
    """
    values = {key: value for key, value in locals().items() if key != "words"}
    return _ask("reproduce", _reproduce, words, values)


_collective = {
    "cluster": ("cluster", "FILE|PRESET", False),
    "set": ("set", "KEY=VALUE", True),
    "op": ("op", "NAME", False),
    "ranks": ("ranks", "N", False),
    "stride": ("stride", "S", False),
    "groups": ("groups", "G", False),
    "size": ("size", "RANGE", False),
    "algorithm": ("algorithm", "NAME|all", False),
    "json": ("json", None, False),
    "page": ("page", "FILE", False),
    "force": ("force", None, False),
    "csv": ("csv", None, False),
}


def collective(*words: Value,
               cluster: Value = None,
               set: Value = None,
               op: Value = None,
               ranks: Value = None,
               stride: Value = None,
               groups: Value = None,
               size: Value = None,
               algorithm: Value = None,
               page: Value = None,
               force: bool = False,
               csv: bool = False) -> Union[Result, Text]:
    """time and bandwidth of a collective over message sizes

    forerun collective --cluster C --op NAME --ranks N [--size RANGE] [--algorithm NAME|all] [--json|--csv]

    cluster  cluster file, preset, or - for standard input
    set  change an input: ghost=16, model.layers=4, cluster.device.launch=5us
    op  broadcast, reduce, all_reduce, all_gather, reduce_scatter, all_to_all, send_recv, scatter, gather
    ranks  ranks taking part
    stride  distance between neighbours (default 1)
    groups  so many such groups at once, sharing links (default: all ranks are busy)
    size  message sizes, e.g. 8..16MiB*2 (default); counted as nccl-tests does
    algorithm  price an algorithm from the levels instead of the cluster's form
    page  write the answer as one HTML page with live figures, too
    force  replace a page or picture that is there
    csv  print CSV
    """
    values = {key: value for key, value in locals().items() if key != "words"}
    return _ask("collective", _collective, words, values)


_gemm = {
    "cluster": ("cluster", "FILE|PRESET", False),
    "runtime": ("runtime", "FILE|PRESET", False),
    "set": ("set", "KEY=VALUE", True),
    "m": ("m", "M", False),
    "n": ("n", "N", False),
    "k": ("k", "K", False),
    "batch": ("batch", "B", False),
    "dtype": ("dtype", "NAME", False),
    "json": ("json", None, False),
    "page": ("page", "FILE", False),
    "force": ("force", None, False),
}


def gemm(*words: Value,
         cluster: Value = None,
         runtime: Value = None,
         set: Value = None,
         m: Value = None,
         n: Value = None,
         k: Value = None,
         batch: Value = None,
         dtype: Value = None,
         page: Value = None,
         force: bool = False) -> Result:
    """time of one matrix product

    forerun gemm --cluster C --m M --n N --k K [--dtype fp32] [--json]

    cluster  cluster file, preset, or - for standard input
    runtime  software with a date: a release of a framework (forerun list runtimes), a file, or -; without it the newest that suits cluster and model
    set  change an input: ghost=16, model.layers=4, cluster.device.launch=5us
    m  rows of the result
    n  columns of the result
    k  inner dimension
    batch  samples it serves, for devices known by throughput against batch (default n)
    dtype  fp64, fp32, tf32, bf16, fp16, fp8, fp4 (default fp32)
    page  write the answer as one HTML page with live figures, too
    force  replace a page or picture that is there
    """
    values = {key: value for key, value in locals().items() if key != "words"}
    return _ask("gemm", _gemm, words, values)


_discover = {
    "hwloc": ("hwloc", "FILE.xml", False),
    "ranks_per_node": ("ranks-per-node", "N", False),
    "rank": ("rank", "auto|gpu|core|numa|package", False),
}


def discover(*words: Value,
             hwloc: Value = None,
             ranks_per_node: Value = None,
             rank: Value = None) -> Text:
    """the node part of a cluster file, from hwloc or what shows node and network

    forerun discover [FILE...] [--hwloc FILE.xml] [--rank gpu|core|numa|package] [--ranks-per-node N] > cluster.json

    hwloc  read what lstopo wrote instead of looking at this machine
    ranks_per_node  of files that show the network alone
    rank  what a rank is (auto: a GPU, else a core)
    """
    values = {key: value for key, value in locals().items() if key != "words"}
    return _ask("discover", _discover, words, values)


_export = {
    "cluster": ("cluster", "FILE|PRESET", False),
    "model": ("model", "FILE|PRESET", False),
    "runtime": ("runtime", "FILE|PRESET", False),
    "defaults": ("defaults", "WORD", False),
    "plan": ("plan", "FILE", False),
    "set": ("set", "KEY=VALUE", True),
    "ranks": ("ranks", "N", False),
    "out": ("out", "FILE", False),
    "collectives": ("collectives", "NAME", False),
    "json": ("json", None, False),
}


def export(*words: Value,
           cluster: Value = None,
           model: Value = None,
           runtime: Value = None,
           defaults: Value = None,
           plan: Value = None,
           set: Value = None,
           ranks: Value = None,
           out: Value = None,
           collectives: Value = None) -> Union[Result, Text]:
    """a cluster as a SimGrid platform; a plan's program as GOAL, as Chakra traces

    forerun export simgrid|goal|chakra --cluster C [--model M] [--ranks N] [--set KEY=VALUE]... [-o FILE]

    cluster  cluster file, preset, or - for standard input
    model  model file, preset, or -
    runtime  software with a date: a release of a framework (forerun list runtimes), a file, or -; without it the newest that suits cluster and model
    defaults  2019: the same as --runtime papers-2019; modern: the newest runtime that suits
    plan  plan file, or what predict or search printed with --json; without it every key has its default
    set  change an input: ghost=16, model.layers=4, cluster.device.launch=5us
    ranks  simgrid: how many ranks (default: all of the cluster, at most 512)
    out  where it goes (default: standard output); of chakra a folder
    collectives  goal, of a pipeline: operations (inside its passes, default) or messages of all ranks
    """
    values = {key: value for key, value in locals().items() if key != "words"}
    return _ask("export", _export, words, values)


_compare = {
    "cluster": ("cluster", "FILE|PRESET", True),
    "model": ("model", "FILE|PRESET", True),
    "runtime": ("runtime", "FILE|PRESET", True),
    "plan": ("plan", "FILE", False),
    "ranks": ("ranks", "RANGE", False),
    "set": ("set", "KEY=VALUE", True),
    "vary": ("vary", "KEY=RANGE", True),
    "fix": ("fix", "KEY=VALUE", True),
    "objective": ("objective", "NAME", False),
    "per_iteration": ("per-iteration", None, False),
    "fit": ("fit", "P", False),
    "memory_limit": ("memory-limit", "Q", False),
    "max_lossy": ("max-lossy", "X", False),
    "threads": ("threads", "T", False),
    "tokens": ("tokens", "N", False),
    "samples": ("samples", "N", False),
    "price": ("price", "Q", True),
    "carbon": ("carbon", "Q", True),
    "pue": ("pue", "X", True),
    "mtbf": ("mtbf", "Q", False),
    "storage": ("storage", "Q", False),
    "checkpoint_size": ("checkpoint-size", "Q", False),
    "restart": ("restart", "Q", False),
    "all": ("all", None, False),
    "json": ("json", None, False),
    "page": ("page", "FILE", False),
    "force": ("force", None, False),
}


def compare(*words: Value,
            cluster: Value = None,
            model: Value = None,
            runtime: Value = None,
            plan: Value = None,
            ranks: Value = None,
            set: Value = None,
            vary: Value = None,
            fix: Value = None,
            objective: Value = None,
            per_iteration: bool = False,
            fit: Value = None,
            memory_limit: Value = None,
            max_lossy: Value = None,
            threads: Value = None,
            tokens: Value = None,
            samples: Value = None,
            price: Value = None,
            carbon: Value = None,
            pue: Value = None,
            mtbf: Value = None,
            storage: Value = None,
            checkpoint_size: Value = None,
            restart: Value = None,
            all: bool = False,
            page: Value = None,
            force: bool = False) -> Result:
    """clusters, models or runtimes side by side; or a second calibration beside the first

    forerun compare --cluster C --cluster D... --model M... --ranks RANGE ... | --runtime A --runtime B... --cluster C --model M [--plan P] ... | FIRST.jsonl SECOND.jsonl

    cluster  one of several clusters side by side; may be repeated
    model  what is trained there; may be repeated
    runtime  software of all; repeated: the runtimes side by side, and what the first is behind by
    plan  plan file, or what predict or search printed with --json; without it every key has its default
    ranks  rank counts of each: 512, 8..512*2
    set  change an input: ghost=16, model.layers=4, cluster.device.launch=5us
    vary  as of search; without it the whole recipe is searched
    fix  hold a key of the recipe, as of search
    objective  time (default), energy or edp (energy times time)
    per_iteration  rank one iteration, without the iterations to the loss
    fit  how surely a plan must fit into the device's memory to be ranked, e.g. 0.9 (default 0.95); any: whatever is not refused, 5 %
    memory_limit  tensors of a rank, e.g. \"32 GiB\", at most; what the device shows besides is not counted
    max_lossy  most of gradient bytes or backward messages that may go compressed, 0 to 1
    threads  threads (default: processors); the result is the same for any number
    tokens  what a training of so many tokens costs: 1T, 300B, 2e12
    samples  the same of samples
    price  of a device, e.g. \"2.5 USD/h\": money of that training
    carbon  of the electricity, e.g. \"0.4 kg/kWh\": its CO2
    pue  power usage effectiveness of the building, e.g. 1.2, in place of the cluster's
    mtbf  mean time between failures of a device, e.g. \"50000 h\"
    storage  rate at which a checkpoint is written, e.g. \"100 GB/s\"
    checkpoint_size  of a checkpoint (default: weights and optimiser state)
    restart  time to start again after a failure, e.g. \"10 min\"
    all  everything that the short answer leaves out: all tables, all reasons
    page  write the answer as one HTML page with live figures, too
    force  replace a page or picture that is there
    """
    values = {key: value for key, value in locals().items() if key != "words"}
    return _ask("compare", _compare, words, values)


_compare_plans = {
    "cluster": ("cluster", "FILE|PRESET", False),
    "model": ("model", "FILE|PRESET", False),
    "runtime": ("runtime", "FILE|PRESET", False),
    "defaults": ("defaults", "WORD", False),
    "set": ("set", "KEY=VALUE", True),
    "undisturbed": ("undisturbed", None, False),
    "ranks": ("ranks", "N", False),
    "all": ("all", None, False),
    "json": ("json", None, False),
    "page": ("page", "FILE", False),
    "force": ("force", None, False),
}


def compare_plans(*words: Value,
                  cluster: Value = None,
                  model: Value = None,
                  runtime: Value = None,
                  defaults: Value = None,
                  set: Value = None,
                  undisturbed: bool = False,
                  ranks: Value = None,
                  all: bool = False,
                  page: Value = None,
                  force: bool = False) -> Result:
    """plans of your own side by side, and how sure it is which is best

    forerun compare-plans A.json B.json... --cluster C --model M [--ranks N] [--set KEY=VALUE]... [--json]

    cluster  cluster file, preset, or - for standard input
    model  model file, preset, or -
    runtime  software with a date: a release of a framework (forerun list runtimes), a file, or -; without it the newest that suits cluster and model
    defaults  2019: the same as --runtime papers-2019; modern: the newest runtime that suits
    set  change an input: ghost=16, model.layers=4, cluster.device.launch=5us
    undisturbed  predict for an idle machine, not under typical load
    ranks  ranks of plans that do not name their replicas (default: dp is 1)
    all  everything that the short answer leaves out: all tables, all reasons
    page  write the answer as one HTML page with live figures, too
    force  replace a page or picture that is there
    """
    values = {key: value for key, value in locals().items() if key != "words"}
    return _ask("compare-plans", _compare_plans, words, values)


_doctor = {
    "json": ("json", None, False),
    "page": ("page", "FILE", False),
    "force": ("force", None, False),
}


def doctor(*words: Value,
           page: Value = None,
           force: bool = False) -> Result:
    """checks of this machine, and what to install or ask for

    forerun doctor [--json]

    page  write the answer as one HTML page with live figures, too
    force  replace a page or picture that is there
    """
    values = {key: value for key, value in locals().items() if key != "words"}
    return _ask("doctor", _doctor, words, values)


_share = {
    "cluster": ("cluster", "FILE|PRESET", False),
    "name": ("name", "TEXT", False),
    "by": ("by", "TEXT", False),
    "host": ("host", "NAME", True),
    "out": ("out", "FILE", False),
    "force": ("force", None, False),
}


def share(*words: Value,
          cluster: Value = None,
          name: Value = None,
          by: Value = None,
          host: Value = None,
          out: Value = None,
          force: bool = False) -> Text:
    """a cluster file to hand on: named, without hosts' names, with its provenance

    forerun share --cluster C --name NAME [--by WHO] [-o FILE]

    cluster  cluster file, preset, or - for standard input
    name  name of the cluster, as others know it
    by  who measured it: a person, a group, a site
    host  of a host, to take out too; may be repeated
    out  cluster file to write (default: standard output)
    force  replace a file that is there
    """
    values = {key: value for key, value in locals().items() if key != "words"}
    return _ask("share", _share, words, values)


_show = {
}


def show(*words: Value) -> Text:
    """a preset as the file that it is, to change and keep; a document's schema

    forerun show PRESET|SCHEMA

    """
    values = {key: value for key, value in locals().items() if key != "words"}
    return _ask("show", _show, words, values)


_list_ = {
    "json": ("json", None, False),
    "page": ("page", "FILE", False),
    "force": ("force", None, False),
}


def list_(*words: Value,
          page: Value = None,
          force: bool = False) -> Result:
    """collectives, methods, forms, kinds, presets, figures

    forerun list [TABLE] [--json]

    page  write the answer as one HTML page with live figures, too
    force  replace a page or picture that is there
    """
    values = {key: value for key, value in locals().items() if key != "words"}
    return _ask("list", _list_, words, values)
