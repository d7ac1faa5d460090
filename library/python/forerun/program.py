"""Verbs by the words of their command lines: through the library, or the program `forerun` for those that the library lacks."""

import json as _json
import os as _os
import pathlib as _path
import shutil as _shutil
import subprocess as _subprocess

from .results import Figure, Files, answer

_OUTSIDE = 6  # the program's code of an answer: a run that left its interval; the library's is no memory
_WRITTEN = {"plot": "figure.svg", "report": "page.html"}  # verbs whose answer is a file, which words name or we do


def _candidates():
    """Where the program may be, likeliest first."""
    here = _path.Path(__file__).resolve()
    yield here.parent / "forerun"  # in a wheel
    for prefix in list(here.parents)[2:6]:  # PREFIX/share/forerun/python/forerun, or the sources
        for folder in ("bin", "build/release/bin"):
            yield prefix / folder / "forerun"


def path():
    """The program: FORERUN_PROGRAM, the one installed beside this module, or the first on PATH."""
    named = _os.environ.get("FORERUN_PROGRAM")
    found = named or next((str(p) for p in _candidates() if p.is_file() and _os.access(p, _os.X_OK)), None)
    return found or _shutil.which("forerun") or "forerun"


def text_of(value):
    """A value as the command line has it: a dictionary is JSON, several values stand between commas."""
    if isinstance(value, dict):
        return _json.dumps(value)
    if isinstance(value, (list, tuple, range)):
        return ",".join(map(text_of, value))
    return value if isinstance(value, str) else _os.fspath(value) if hasattr(value, "__fspath__") else _json.dumps(value)


def _words(option, value):
    """The words of one option: a switch, one value, or KEY=VALUE once a key; several values of "several" once each."""
    name, takes, several = option
    if value is None or value is False:
        return []
    if takes is None:
        return [f"--{name}"]
    if isinstance(value, dict) and "KEY=" in takes:
        return [word for key, one in value.items() for word in (f"--{name}", f"{key}={text_of(one)}")]
    if several and isinstance(value, (list, tuple)):
        return [word for one in value for word in (f"--{name}", text_of(one))]
    return [f"--{name}", text_of(value)]


def run(verb, words):
    """Run the program; (document or None, text, notes).  Raises as the library does."""
    from . import Infeasible, error_of  # pylint: disable=import-outside-toplevel

    line = [path(), verb, *words]
    try:
        done = _subprocess.run(line, stdin=_subprocess.DEVNULL, capture_output=True, check=False)
    except OSError as why:
        raise ImportError(f"forerun: the program cannot be started; name it in FORERUN_PROGRAM ({why})") from why
    document, text, notes = None, done.stdout.decode(), done.stderr.decode()
    if "--json" in words and text.lstrip().startswith(("{", "[")):
        document = _json.loads(text)
    if done.returncode in (0, _OUTSIDE):
        return document, text, notes
    message = notes.strip().removeprefix(f"forerun {verb}: ").split("\nTry: ")[0] or f"exit {done.returncode}"
    error = error_of(done.returncode, message)
    if isinstance(error, Infeasible):
        error.answer = answer(document, text, notes)
    raise error


def _carry_out(verb, words, has_json):
    from . import in_library, library_ask  # pylint: disable=import-outside-toplevel

    if in_library(verb):
        return answer(*library_ask(verb, words))
    return answer(*run(verb, words + (["--json"] if has_json and "--json" not in words else [])))


def ask(verb, options, words, values):
    """Carry out `forerun VERB` and return its document (a Result), or its text where it has none.

    options  {name in Python: (name on the command line, what it takes or None, may it come several times)}
    words    what stands without an option; of plot and report answers, too
    values   {name in Python: value}"""
    line = []
    for key, value in values.items():
        line += _words(options[key], value)
    if verb not in _WRITTEN:
        return _carry_out(verb, line + [text_of(word) for word in words], "json" in options)
    with Files() as files:
        shown = verb == "plot" and values["output"] is None and not any(word in ("-o", "--output") for word in words)
        pages = verb == "report" and values["output"] is None and values["page"] is None and any(isinstance(w, dict) for w in words)
        written = files.path(_WRITTEN[verb])
        line += ["--output", written] if shown or pages else []
        made = _carry_out(verb, line + [text_of(files.put(word)) for word in words], "json" in options)
        if not (shown or pages):
            return made
        with open(written, encoding="utf-8") as file:
            text = file.read()
    return Figure(text) if shown else answer(None, text, made.notes)
