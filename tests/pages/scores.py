"""The table "how accurate" of README: for each row a plain command of the program, run where the data are."""
import json
import shlex

BEGIN, END = "<!-- scores: begin -->", "<!-- scores: end -->"
HEAD = ["| predicted, with the shipped files, nothing fitted | runs | mean error | worst | inside the 90 % interval |",
        "|---|---|---|---|---|"]

# What a reader understands, and the command that scores it.
ROWS = [
    ("Step time of MLPerf pre-training on 8 to 11,616 GPUs: GPT-3 and Llama 3.1",
     "score --runs ../shared/data/mlperf/time_pretraining.csv"),
    ("Step time of Megatron-LM on 32 to 3,072 A100 (SC'21, Table 1)",
     "score --runs ../shared/data/training/megatron_sc21_table1.csv"),
    ("Step time under frameworks that no preset describes: InternEvo, OneFlow, NeMo 2024, MaxText",
     "score --runs ../shared/data/fresh/rows.csv"),
    ("Power of a node, from other benchmarks (MLPerf)", "reproduce energy nodes_benchmark"),
]


def percent(value):
    return f"{100 * value:.0f} %" if value >= 0.0995 else f"{100 * value:.1f} %"


def of_score(document):
    every = document["all"]
    worst = max(abs(row["predicted_s"] / row["measured_s"] - 1) for row in document["rows"])
    return every["n"], every["mape"], worst, every["coverage"]


def of_study(document, name):
    value = {row["id"].split("/")[-1]: row["ours"] for row in document["rows"] if row["id"].startswith(name + "/")}
    return value["n"], value["mean_error"], value["worst_error"], value["coverage"]


def row(shell, text, command):
    study = command.split()[2] if command.startswith("reproduce") else None
    words = shlex.split(command)[:2] if study else shlex.split(command)
    code, lines = shell.run(f"forerun {shlex.join(words)} --json 2>/dev/null")
    if code != 0:
        raise SystemExit(f"forerun {command}: exit code {code}")
    document = json.loads("\n".join(lines))
    n, mean, worst, inside = of_study(document, study) if study else of_score(document)
    return f"| {text} | {n:.0f} | {percent(mean)} | {percent(worst)} | {percent(inside)} |"


def written(lines, shell):
    """The page's lines with the table of today."""
    begin, end = lines.index(BEGIN), lines.index(END)
    return lines[:begin + 1] + HEAD + [row(shell, *r) for r in ROWS] + lines[end:]
