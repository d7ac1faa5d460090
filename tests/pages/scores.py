"""The table "how accurate" of README: for each row a plain command of the program, run where the data are."""
import json

BEGIN, END = "<!-- scores: begin -->", "<!-- scores: end -->"
HEAD = ["| what was predicted | runs | mean error | worst | inside the 90 % interval |",
        "|---|---|---|---|---|"]

# The row in words, and the command that scores it.
ROWS = [
    ("Step time of MLPerf pre-training on 8 to 11,616 GPUs, shipped files",
     "score --runs ../shared/data/mlperf/time_pretraining.csv"),
    ("Step time of Megatron-LM on 32 to 2,520 A100 (SC'21, Table 1), shipped files",
     "score --runs ../shared/data/training/megatron_sc21_table1.csv"),
    ("Step time under other frameworks: InternEvo, OneFlow, NeMo 2024, MaxText",
     "score --runs ../shared/data/fresh/rows.csv"),
    ("Power of a node in MLPerf, from other benchmarks on the same machine", "reproduce energy", "nodes_benchmark"),
]


def percent(value):
    return f"{100 * value:.0f} %" if value >= 0.0995 else f"{100 * value:.1f} %"


def of_score(document):
    return tuple(document[key] for key in ("n", "mape", "worst_error", "coverage"))


def of_study(document, name):
    value = {row["id"].split("/")[-1]: row["ours"] for row in document["rows"] if row["id"].startswith(name + "/")}
    return value["n"], value["mean_error"], value["worst_error"], value["coverage"]


def row(shell, text, command, study=None):
    code, lines = shell.run(f"forerun {command} --json 2>/dev/null")
    if code != 0:
        raise SystemExit(f"forerun {command}: exit code {code}")
    document = json.loads("\n".join(lines))
    n, mean, worst, inside = of_study(document, study) if study else of_score(document)
    return f"| {text} | {n:.0f} | {percent(mean)} | {percent(worst)} | {percent(inside)} |"


def written(lines, shell):
    """The page's lines with the table of today."""
    begin, end = lines.index(BEGIN), lines.index(END)
    return lines[:begin + 1] + HEAD + [row(shell, *r) for r in ROWS] + lines[end:]
