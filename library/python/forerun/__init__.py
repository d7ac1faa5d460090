"""Forerun: what will a distributed training cost in time, energy and memory, and which plan is best?

    >>> import forerun
    >>> cost = forerun.predict("frontier", "ffn-16384", set={"method": "phantom", "tp": 8, "ghost": 16})
    >>> cost["iteration_time_s"]
    0.0188...
    >>> found = forerun.search("dgx-h100", "llama-3-8b", ranks=64, set={"global_batch": 128},
    ...                        vary={"tp": "1..8*2", "recompute": ["none", "selective"]})
    >>> found["best"]["plan"]

Every function returns the document that the command of the same name prints with --json, as a
dictionary (docs/reference/outputs.md); numbers that nobody knows are None.  It prints as a summary, has
its table under .rows and .to_frame() (pandas), and draws itself: forerun.Result.

A cluster, a model and a plan are each a preset's name, the path of a JSON file, or a dictionary.
What `set` says changes them: a dictionary or a list of "KEY=VALUE"; a KEY is one of the plan
("ghost") or a dotted path ("model.layers", "cluster.device.launch").  `runtime` names the software
likewise, a preset ("nemo-24.03"), a path or a dictionary; None: the newest that suits cluster and model.

Whatever is wrong is an exception, `forerun.Error` or one below it, with the library's sentence.
Functions may be called in several threads at once.

The other verbs (forerun.compare, forerun.score, ...: forerun.verbs) take the options of their commands by name, with
_ for -; forerun.ask takes any command as words:

    >>> forerun.compare(cluster=["frontier", "dgx-h100"], model="llama-3-8b", ranks=64)
    >>> forerun.ask("search", "dgx-h100", "llama-3-8b", 64)

Those that the library lacks (forerun.watch, doctor, discover, reproduce) run the program `forerun`, installed beside it
or named in FORERUN_PROGRAM.

The library is libforerun.so beside the folder this module is installed in, or what the environment
variable FORERUN_LIBRARY names.  There is nothing to build.
"""

import ctypes as _c
import json as _json
import os as _os
import pathlib as _path
from typing import Any, Dict, Iterable, Optional, Union

from .results import Figure, Result, Rows, Text, Value, answer as _made

__all__ = ["predict", "explain", "search", "simulate", "place", "emit", "fit", "ask", "Job", "version",
           "Result", "Rows", "Text", "Figure", "Error", "UsageError", "InputError", "Infeasible", "NoMemory"]

Path = Union[str, bytes, "_os.PathLike[str]"]
Input = Union[Path, Dict[str, Any]]  # a preset's name, a path, or the document itself
Pairs = Union[str, Iterable[str], Dict[str, Any], None]  # "KEY=VALUE", several of these, or {KEY: VALUE}


# ---- errors ----------------------------------------------------------------------------------------


class Error(Exception):
    """Something failed at run time; `status` is the exit code that the program would end with."""

    def __init__(self, message, status=1):
        super().__init__(message)
        self.status = status


class UsageError(Error, ValueError):
    """An argument does not fit."""


class InputError(Error, ValueError):
    """A file, a preset or a value does not fit; the message names the place."""


class Infeasible(Error):
    """The plan cannot be, or none of those searched; `answer` is the document that says why."""

    answer = None


class NoMemory(Error, MemoryError):
    """Memory ran out during the call."""


_OK, _INFEASIBLE = 0, 4
_ERRORS = {2: UsageError, 3: InputError, 4: Infeasible, 6: NoMemory}


# ---- the library -----------------------------------------------------------------------------------


class _Failure(_c.Structure):
    _fields_ = [("status", _c.c_int), ("message", _c.c_char * 1056)]


class _Search(_c.Structure):
    _fields_ = [("size", _c.c_size_t), ("ranks", _c.c_char_p), ("vary", _c.POINTER(_c.c_char_p)),
                ("objective", _c.c_char_p), ("top", _c.c_int64), ("memory_limit_B", _c.c_double),
                ("max_lossy", _c.c_double), ("threads", _c.c_int), ("per_iteration", _c.c_int),
                ("explain", _c.c_int), ("fit", _c.c_double)]


class _Fit(_c.Structure):
    _fields_ = [("size", _c.c_size_t), ("base", _c.c_char_p), ("form", _c.c_char_p),
                ("name", _c.c_char_p), ("series", _c.c_char_p), ("busy_W", _c.c_double),
                ("idle_W", _c.c_double)]


class _Simulate(_c.Structure):
    _fields_ = [("size", _c.c_size_t), ("network", _c.c_char_p), ("trace", _c.c_char_p),
                ("messages", _c.c_int)]


class _Place(_c.Structure):
    _fields_ = [("size", _c.c_size_t), ("ranks", _c.c_int64), ("ways", _c.c_int64),
                ("ranks_per_node", _c.c_int64), ("placement", _c.c_char_p),
                ("launcher", _c.c_char_p)]


_ABI = 0


def _candidates():
    """Where the library may be, likeliest first."""
    name = f"libforerun.so.{_ABI}"
    here = _path.Path(__file__).resolve()
    yield here.parent / name  # in a wheel
    for prefix in list(here.parents)[2:6]:  # PREFIX/share/forerun/python/forerun, or the sources
        for folder in ("lib", "lib64", "lib/*-linux-gnu*", "build/release/lib"):
            yield from sorted(prefix.glob(f"{folder}/{name}"))
    yield name  # wherever the loader looks


def _open():
    named = _os.environ.get("FORERUN_LIBRARY")
    tried = []
    for path in [named] if named else _candidates():
        try:
            return _c.CDLL(str(path))
        except OSError as why:
            tried.append(str(why))
    raise ImportError("forerun: the library cannot be loaded; name it in FORERUN_LIBRARY ("
                      + "; ".join(tried) + ")")


def _declare(lib):
    job, result, failure = _c.c_void_p, _c.c_void_p, _c.POINTER(_Failure)
    texts = _c.POINTER(_c.c_char_p)
    signatures = {
        "version": (_c.c_char_p, []),
        "load": (_c.c_int, [_c.c_char_p, _c.c_char_p, _c.c_char_p, texts, _c.POINTER(job), failure]),
        "set": (_c.c_int, [job, _c.c_char_p, failure]),
        "job_free": (None, [job]),
        "json": (_c.c_char_p, [result]),
        "text": (_c.c_char_p, [result]),
        "result_free": (None, [result]),
        "predict": (_c.c_int, [job, _c.POINTER(result), failure]),
        "explain": (_c.c_int, [job, _c.POINTER(result), failure]),
        "search": (_c.c_int, [job, _c.POINTER(_Search), _c.POINTER(result), failure]),
        "simulate": (_c.c_int, [job, _c.POINTER(_Simulate), _c.POINTER(result), failure]),
        "place": (_c.c_int, [job, _c.POINTER(_Place), _c.POINTER(result), failure]),
        "fit": (_c.c_int, [texts, _c.POINTER(_Fit), _c.POINTER(result), failure]),
        "emit": (_c.c_int, [job, _c.c_char_p, _c.POINTER(result), failure]),
        "ask": (_c.c_int, [_c.c_char_p, texts, _c.POINTER(result), failure]),
        "verb": (_c.c_char_p, [_c.c_size_t]),
        "notes": (_c.c_char_p, [result]),
    }
    if not hasattr(lib, "forerun_ask"):
        raise ImportError("forerun: the library is older than this module (it has no forerun_ask); name another in FORERUN_LIBRARY")
    for name, (returns, takes) in signatures.items():
        function = getattr(lib, "forerun_" + name)
        function.restype, function.argtypes = returns, takes
    return lib


_lib = _declare(_open())


def version() -> str:
    """Version of the library."""
    return _lib.forerun_version().decode()


# ---- arguments -------------------------------------------------------------------------------------


def _bytes(value):
    """A C string; a zero inside would end it early."""
    if value is None:
        return None
    text = _os.fsencode(value)
    if b"\0" in text:
        raise UsageError("a text with a zero byte in it cannot be passed on", 2)
    return text


def _input(value):
    """A preset's name, a path, or a dictionary as JSON."""
    return _bytes(_json.dumps(value) if isinstance(value, dict) else value)


def _word(value):
    """A value as it stands behind KEY=."""
    return value if isinstance(value, str) else _json.dumps(value)


def _range(value):
    """Values of a key: a text of its own ("1..64*2"), one value, or several."""
    if isinstance(value, (list, tuple, range)):
        return ",".join(map(_word, value))
    return _word(value)


def _pairs(pairs, write):
    """"KEY=VALUE" texts, then NULL."""
    if isinstance(pairs, str):
        pairs = [pairs]
    if isinstance(pairs, dict):
        pairs = [f"{key}={write(value)}" for key, value in pairs.items()]
    texts = [_bytes(pair) for pair in pairs or []]
    return (_c.c_char_p * (len(texts) + 1))(*texts, None)


def _sets(pairs, runtime):
    """What is changed, and the software."""
    if runtime is None:
        return _pairs(pairs, _word)
    texts = _pairs(pairs, _word)[:-1] + [b"runtime=" + _input(runtime)]
    return (_c.c_char_p * (len(texts) + 1))(*texts, None)


def _check(status, failure, answer=None):
    if status == _OK:
        return answer
    error = error_of(status, failure.message.decode(errors="replace"))
    if status == _INFEASIBLE:
        error.answer = answer
    raise error


def error_of(status, message):
    """The exception of an exit code."""
    return _ERRORS.get(status, Error)(message, status)


def _parts(function, *arguments):
    """The document of an answer, the text that it leaves besides, and its notes."""
    result, failure = _c.c_void_p(), _Failure()
    status = function(*arguments, _c.byref(result), _c.byref(failure))
    document, text, notes = None, "", ""
    if result:
        try:
            written = _lib.forerun_json(result)
            document = _json.loads(written) if written else None
            text = _lib.forerun_text(result).decode()
            notes = _lib.forerun_notes(result).decode()
        finally:
            _lib.forerun_result_free(result)
    _check(status, failure, _made(document, text, notes))
    return document, text, notes


def _answer(function, *arguments):
    """The document of an answer, and what it leaves besides."""
    document, text, notes = _parts(function, *arguments)
    return _made({} if document is None else document, "", notes), text


_verbs_known = set(iter(map(_lib.forerun_verb, range(64)).__next__, None))


def in_library(verb):
    """Does the library carry this verb out, or the program?"""
    return _bytes(verb) in _verbs_known


def library_ask(verb, words):
    """Document or None, text and notes of a command."""
    return _parts(_lib.forerun_ask, _bytes(verb), _pairs(words, _word))


# ---- jobs ------------------------------------------------------------------------------------------


class Job:
    """A cluster, a model and a plan, checked once and asked often.

        >>> job = forerun.Job("a100-hdr", "gpt-2.5b", set={"tp": 4, "global_batch": 32})
        >>> for rate in (10, 20, 40):
        ...     job.set({"cluster.levels.1.bandwidth": f"{rate} GB/s"})
        ...     print(rate, job.predict()["iteration_time_s"])
    """

    _job = None

    def __init__(self, cluster: Input, model: Optional[Input] = None, plan: Optional[Input] = None, set: Pairs = None,
                 runtime: Optional[Input] = None):
        job, failure = _c.c_void_p(), _Failure()
        status = _lib.forerun_load(_input(cluster), _input(model), _input(plan), _sets(set, runtime),
                                   _c.byref(job), _c.byref(failure))
        _check(status, failure)
        self._job = job

    def __del__(self):
        if self._job:
            _lib.forerun_job_free(self._job)

    def set(self, pairs: Pairs) -> "Job":
        """Change inputs, one after the other; one that is refused leaves the job as it was before it."""
        failure = _Failure()
        for text in _pairs(pairs, _word)[:-1]:
            _check(_lib.forerun_set(self._job, text, _c.byref(failure)), failure)
        return self

    def _ask(self, function, *options):
        return _answer(function, self._job, *map(_c.byref, options))

    def predict(self) -> Result:
        """What an iteration of the plan costs: iteration_time_s with its 90 % interval
        (iteration_time_low_s, iteration_time_high_s), iteration_energy_J, memory_B, breakdown_s and more.
        A plan that cannot be raises Infeasible, whose `answer` has the reasons."""
        return self._ask(_lib.forerun_predict)[0]

    def explain(self) -> Result:
        """The same under "outcome", and under "explain" what binds and what would change it."""
        return self._ask(_lib.forerun_explain)[0]

    def search(self, ranks: Value, vary: Pairs = None, objective: str = "time", top: int = 10, memory_limit_B: float = 0,
               max_lossy: float = -1, threads: int = 0, per_iteration: bool = False, explain: bool = False,
               fit: float = 0.95) -> Result:
        """The best of many plans: "best", "top", "answers" (those that differ in substance), "pareto", "margin",
        "odds", and why others cannot be.

        ranks      512, [8, 16, 32] or a text: "1..512*2"
        vary       {"tp": "1..8*2", "method": ["tensor", "phantom"]}, or a list of "KEY=RANGE"; None: the
                   whole recipe, but for what the plan says
        objective  "time", "energy" or "edp" (energy times time)
        top        how many of the best to list; 0: every feasible one
        max_lossy  of gradient bytes or backward messages that may go compressed, 0 to 1; -1: no limit,
                   and none tried unasked
        fit        how surely a plan must fit into the device's memory to be ranked; 0: all that is not refused
        Infeasible is raised where no plan can be."""
        options = _Search(_c.sizeof(_Search), _bytes(_range(ranks)), _pairs(vary, _range) if vary else None,
                          _bytes(objective), top, memory_limit_B, max_lossy, threads, per_iteration,
                          explain, fit)
        return self._ask(_lib.forerun_search, options)[0]

    def simulate(self, network: Optional[str] = None, messages: bool = False, trace: Optional[str] = None) -> Result:
        """The plan in the event engine: "outcome", "stages" and "critical_path".

        network   "isolated" (each message alone), "shared" (they share links, those of a pair of ranks in
                  order) or "fair" (all share at once); None: as predict has it, shared where messages
                  are slow, else isolated
        messages  all ranks, collectives as their messages
        trace     "chrome" (for Perfetto), "paje" or "csv": the timeline's text under "trace" """
        options = _Simulate(_c.sizeof(_Simulate), _bytes(network), _bytes(trace), messages)
        answer, text = self._ask(_lib.forerun_simulate, options)
        answer._timeline = lambda: _json.loads(self.simulate(network, messages, "chrome")["trace"])
        if trace:
            answer["trace"] = text
        return answer

    def place(self, ranks: int = 0, ways: int = 0, ranks_per_node: int = 0, placement: Optional[str] = None,
              launcher: Optional[str] = None) -> Result:
        """Where ranks sit: "placements", a list, each with the rank of every slot ("mapping").

        placement  "linear", "round-robin", "by-axis:dp-tp-pp", "optimised", ...; None: the plan's where
                   it says one, else all
        launcher   "slurm" or "rankfile": under "launcher" the lines it needs for the best of them
        ways       sub-grids of method subgraph; without a model, `ranks` over `ways` is the mesh"""
        options = _Place(_c.sizeof(_Place), ranks, ways, ranks_per_node, _bytes(placement),
                         _bytes(launcher))
        answer, text = self._ask(_lib.forerun_place, options)
        answer = Result(placements=answer if isinstance(answer, list) else [answer])
        if launcher:
            answer["launcher"] = text
        return answer

    def emit(self, framework: str) -> Text:
        """What starts the plan: the script as text, and its document under .document.

        framework  "megatron", "megatron-bridge", "torchtitan", "deepspeed", "sbatch", or one of them in a job
                   script: "sbatch,megatron" """
        document, script, notes = _parts(_lib.forerun_emit, self._job, _bytes(framework))
        text = _made(None, script, notes)
        text.document = None if document is None else _made(document, "", notes)
        return text


def predict(cluster: Input, model: Input, plan: Optional[Input] = None, set: Pairs = None,
            runtime: Optional[Input] = None) -> Result:
    """Job(...).predict(): what an iteration of one plan costs."""
    return Job(cluster, model, plan, set, runtime).predict()


def explain(cluster: Input, model: Input, plan: Optional[Input] = None, set: Pairs = None,
            runtime: Optional[Input] = None) -> Result:
    """Job(...).explain(): the same with what binds and what would change it."""
    return Job(cluster, model, plan, set, runtime).explain()


def search(cluster: Input, model: Input, ranks: Value, vary: Pairs = None, plan: Optional[Input] = None,
           set: Pairs = None, runtime: Optional[Input] = None, **options: Any) -> Result:
    """Job(...).search(ranks, vary, ...): the best of many plans."""
    return Job(cluster, model, plan, set, runtime).search(ranks, vary, **options)


def simulate(cluster: Input, model: Input, plan: Optional[Input] = None, set: Pairs = None,
             runtime: Optional[Input] = None, **options: Any) -> Result:
    """Job(...).simulate(...): one plan in the event engine."""
    return Job(cluster, model, plan, set, runtime).simulate(**options)


def place(cluster: Input, model: Optional[Input] = None, plan: Optional[Input] = None, set: Pairs = None,
          runtime: Optional[Input] = None, **options: Any) -> Result:
    """Job(...).place(...): where ranks sit."""
    return Job(cluster, model, plan, set, runtime).place(**options)


def emit(framework: str, cluster: Input, model: Input, plan: Optional[Input] = None, set: Pairs = None,
         runtime: Optional[Input] = None) -> Text:
    """Job(...).emit(framework): the script that starts one plan."""
    return Job(cluster, model, plan, set, runtime).emit(framework)


def fit(samples: Union[Path, Iterable[Path]], base: Optional[Input] = None, form: str = "best",
        name: Optional[str] = None, series: Optional[str] = None, busy_W: float = -1, idle_W: float = -1) -> Result:
    """Measurements (samples.jsonl, one path or several) into a cluster: the document of forerun fit
    --json, and under "cluster" the cluster file, which the other functions take as it is.

    base            a cluster for what was not measured
    form            "best", "log", "segments", "algorithm" or "similarity"
    busy_W, idle_W  power of a rank at work and of one that waits; both or none"""
    paths = [samples] if isinstance(samples, (str, bytes, _os.PathLike)) else list(samples)
    paths = (_c.c_char_p * (len(paths) + 1))(*map(_bytes, paths), None)
    options = _Fit(_c.sizeof(_Fit), _input(base), _bytes(form), _bytes(name), _bytes(series), busy_W,
                   idle_W)
    answer, text = _answer(_lib.forerun_fit, paths, _c.byref(options))
    answer["cluster"] = _json.loads(text)
    return answer


def ask(verb: str, *words: Value) -> Union[Result, Rows, Text]:
    """Any command that answers, in the words of its command line: forerun.ask("gemm", "--cluster=dgx-h100", "--m", 4096, ...).
    The answer is what --json prints, or the text of a command that has none or is asked for another form."""
    from .program import run, text_of  # pylint: disable=import-outside-toplevel

    line = [text_of(word) for word in words]
    return _made(*(library_ask(verb, line) if in_library(verb) else run(verb, line)))


# ---- the other verbs -------------------------------------------------------------------------------

from . import verbs as _verbs  # noqa: E402  # it asks for the errors above
from .verbs import *  # noqa: E402,F401,F403

__all__ += _verbs.__all__
