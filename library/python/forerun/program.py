"""The verbs that answer through the program `forerun`: forerun.verbs has a function for each."""

import json as _json
import os as _os
import pathlib as _path
import shutil as _shutil
import subprocess as _subprocess


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


def _text(value):
    """A value as the command line has it: a dictionary is JSON, several values stand between commas."""
    if isinstance(value, dict):
        return _json.dumps(value)
    if isinstance(value, (list, tuple, range)):
        return ",".join(map(_text, value))
    return value if isinstance(value, str) else _os.fspath(value) if hasattr(value, "__fspath__") else _json.dumps(value)


def _words(option, value):
    """The words of one option: a switch, one value, or KEY=VALUE once a key; several values of "several" once each."""
    name, takes, several = option
    if value is None or value is False:
        return []
    if takes is None:
        return [f"--{name}"]
    if isinstance(value, dict) and "KEY=" in takes:
        return [word for key, one in value.items() for word in (f"--{name}", f"{key}={_text(one)}")]
    if several and isinstance(value, (list, tuple)):
        return [word for one in value for word in (f"--{name}", _text(one))]
    return [f"--{name}", _text(value)]


def ask(verb, options, words, values):
    """Run `forerun VERB` and return its document (a dictionary), or its text where it has none.

    options  {name in Python: (name on the command line, what it takes or None, may it come several times)}
    words    what stands without an option
    values   {name in Python: value}"""
    from . import Error, Infeasible, _ERRORS  # pylint: disable=import-outside-toplevel

    line = [path(), verb]
    for key, value in values.items():
        line += _words(options[key], value)
    if "json" in options and not values.get("json"):
        line.append("--json")
    line += [_text(word) for word in words]
    try:
        done = _subprocess.run(line, stdin=_subprocess.DEVNULL, capture_output=True, text=True, check=False)
    except OSError as why:
        raise ImportError(f"forerun: the program cannot be started; name it in FORERUN_PROGRAM ({why})") from why
    document = None
    if "json" in options and done.stdout.lstrip().startswith(("{", "[")):
        document = _json.loads(done.stdout)
    if done.returncode == 0 or (document is not None and done.returncode == 6):
        return done.stdout if document is None else document
    message = done.stderr.strip().removeprefix(f"forerun {verb}: ").split("\nTry: ")[0] or f"exit {done.returncode}"
    error = _ERRORS.get(done.returncode, Error)(message, done.returncode)
    if isinstance(error, Infeasible):
        error.answer = document
    raise error
