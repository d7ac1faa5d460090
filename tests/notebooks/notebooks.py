"""The notebooks of docs/notebooks: written from their scripts, run, and compared.

check ROOT              each NAME.py is run, and NAME.ipynb holds its cells with what they print
write ROOT              write NAME.ipynb anew (`ninja documents` does that)
same NOTEBOOK NOTEBOOK  do both print the same?  For one that Jupyter ran

A script has cells behind "# %%" and text behind "# %% [markdown]".  In text, {EXPRESSION:FORMAT} is a number that the cells above
computed, so that no sentence can be out of date.  Any other number of a sentence stands in the code, or is the 90 of an interval.
Pictures are compared by being there: another gnuplot draws other bytes."""

import ast
import contextlib
import io
import json
import pathlib
import re
import shutil
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "repo"))
import reading  # noqa: E402  # which words and how long sentences

FIELD = re.compile(r"\{([^{}]+?)(?::([-<>^]?[\d.,]*[dfge%]))?\}")
NUMBER = re.compile(r"\d+(?:\.\d+)?")
ALWAYS = {"90"}


class Wrong(Exception):
    """A fault of a notebook, as one sentence."""


def cells(text):
    """(is it code, its lines) of a script."""
    found, code = [], True
    for line in text.splitlines():
        if line.startswith("# %%"):
            code = "[markdown]" not in line
            found.append((code, []))
        else:
            found[-1][1].append(line if code else re.sub("^# ?", "", line))
    return [(code, "\n".join(lines).strip("\n")) for code, lines in found]


def check_numbers(template, code):
    """Numbers of a sentence that no cell computed are the code's own."""
    stated = set(NUMBER.findall(code)) | ALWAYS
    words = re.sub(r"`[^`]*`|[A-Za-z][\w-]*\d|Llama 3 8B|CO2", " ", FIELD.sub(" ", template))
    for number in NUMBER.findall(words):
        if number not in stated:
            raise Wrong(f'"{number}" stands in the text and in no code: "{template[:60]}..."')


def check_words(text):
    """Sentences as on a page."""
    for _, sentence in reading.of_page(text)[0]:
        words_of = reading.plain(sentence)
        if len(words_of.split()) > reading.MOST_WORDS:
            raise Wrong(f'{len(words_of.split())} words in a sentence: "{sentence[:60]}..."')
        if reading.WORDS.search(words_of):
            raise Wrong(f'"{reading.WORDS.search(words_of)[0]}" is not written any more: "{sentence[:60]}..."')


def fill(template, names):
    """The text with its numbers."""
    return FIELD.sub(lambda found: format(eval(found[1], names), found[2] or ""), template)  # pylint: disable=eval-used


def shown(value):
    """What Jupyter keeps of a cell's last value."""
    data = {"text/plain": repr(value)}
    for kind, name in (("text/html", "_repr_html_"), ("image/svg+xml", "_repr_svg_")):
        if hasattr(value, name):
            data[kind] = getattr(value, name)()
    if "image/svg+xml" in data:
        del data["text/html"]
    return {key: lines(text) for key, text in data.items()}


def run(code, names, number):
    """Run a cell. @return its outputs"""
    tree, printed = ast.parse(code), io.StringIO()
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    value = None
    with contextlib.redirect_stdout(printed):
        exec(compile(tree, "cell", "exec"), names)  # pylint: disable=exec-used
        if last is not None:
            value = eval(compile(ast.Expression(last.value), "cell", "eval"), names)  # pylint: disable=eval-used
    outputs = []
    if printed.getvalue():
        outputs.append({"name": "stdout", "output_type": "stream", "text": lines(printed.getvalue())})
    if value is not None:
        outputs.append({"data": shown(value), "execution_count": number, "metadata": {}, "output_type": "execute_result"})
    return outputs


def lines(text):
    return text.splitlines(keepends=True)


def notebook(path):
    """The script of @p path as a notebook, run."""
    text, names, made, number = path.read_text(), {"__name__": "notebook"}, [], 0
    parts = cells(text)
    code = "\n".join(source for is_code, source in parts if is_code)
    for i, (is_code, source) in enumerate(parts):
        cell = {"cell_type": "code" if is_code else "markdown", "id": f"cell-{i + 1}", "metadata": {}}
        if is_code:
            number += 1
            cell.update(execution_count=number, outputs=run(source, names, number))
        else:
            check_numbers(source, code)
            source = fill(source, names)
            check_words(source)
        made.append({**cell, "source": lines(source)})
    about = {"kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
             "language_info": {"name": "python"}}
    return {"cells": made, "metadata": about, "nbformat": 4, "nbformat_minor": 5}


def joined(text):
    return text if isinstance(text, str) else "".join(text)


def words(document):
    """All that a reader sees of a notebook, cell by cell; of pictures that they are there."""
    seen = []
    for cell in document["cells"]:
        outputs = []
        for output in cell.get("outputs", []):
            if output["output_type"] == "stream":
                outputs.append(joined(output["text"]))
                continue
            if output["output_type"] == "error":
                raise Wrong(f"a cell fails: {output['ename']}: {output['evalue']}")
            data = output["data"]
            if "image/svg+xml" in data or "<svg" in joined(data.get("text/html", "")):
                outputs.append(re.sub(r"\d+ bytes", "", joined(data["text/plain"])))
            else:
                outputs.append(joined(data["text/plain"]) + joined(data.get("text/html", "")))
        seen.append((joined(cell["source"]), "".join(outputs)))
    return seen


def compare(name, one, other):
    if len(one) != len(other):
        raise Wrong(f"{name}: {len(one)} cells, not {len(other)}")
    for (source, printed), (wanted, known) in zip(one, other):
        if source != wanted:
            raise Wrong(f'{name}: "{wanted}" is now "{source}": run `ninja documents`')
        if printed != known:
            raise Wrong(f'{name}: "{source[:80]}" prints\n{printed}\nnot\n{known}\nrun `ninja documents`')


def main(action, *arguments):
    if action == "same":
        a, b = (words(json.loads(pathlib.Path(path).read_text())) for path in arguments)
        compare(arguments[0], a, b)
        return
    scripts = sorted((pathlib.Path(arguments[0]) / "docs/notebooks").glob("*.py"))
    if not scripts:
        raise Wrong("no notebooks")
    for script in scripts:
        made, path = notebook(script), script.with_suffix(".ipynb")
        if action == "write":
            if not path.exists() or words(json.loads(path.read_text())) != words(made):
                path.write_text(json.dumps(made, indent=1, ensure_ascii=False) + "\n")
        else:
            compare(path.name, words(made), words(json.loads(path.read_text())))


if __name__ == "__main__":
    if not shutil.which("gnuplot"):
        print("Skipped: the figures need gnuplot")
        sys.exit(77)
    try:
        main(*sys.argv[1:])
    except Wrong as wrong:
        sys.exit(str(wrong))
