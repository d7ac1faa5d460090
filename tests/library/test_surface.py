"""The Python module against the C header and the program's help: nothing is missing, and numbers are the same.

test_surface.py BIN [unittest words]"""

import inspect
import json
import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile
import unittest
from unittest import mock

import forerun
from forerun import verbs

BIN = pathlib.Path(sys.argv.pop(1))
ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = BIN / "forerun"
OWN = {"predict", "search", "simulate", "place", "fit"}  # with options of their own
MOVED = {"job_free": "Job", "result_free": "Result", "load": "Job", "set": "Job", "json": "Result", "text": "Text", "count": "Result",
         "outcome_at": "Result", "notes": "Result", "verb": "ask", "import": "import_", "list": "list_"}


def run(*words):
    done = subprocess.run([PROGRAM, *words], capture_output=True, cwd=ROOT, stdin=subprocess.DEVNULL)
    done.stdout, done.stderr = done.stdout.decode(), done.stderr.decode()  # CSV ends its lines with \r\n
    return done


def functions(header):
    return set(re.findall(r"^FORERUN_API [^;]*?\bforerun_(\w+)\(", (ROOT / "library/include" / header).read_text(), re.M))


def commands(folder):
    """Those of verbs.txt, as lists of words."""
    lines = (ROOT / "tests/library/verbs.txt").read_text().splitlines()
    return [shlex.split(line.replace("OUT/", f"{folder}/")) for line in lines if not line.startswith("#")]


def option_names(verb):
    """Of `forerun VERB --help`."""
    return set(re.findall(r"^  (?:-\w,|   ) --([\w-]+)", run(verb, "--help").stdout.split("\n\n")[2], re.M)) - {"help"}


def without_elapsed(answer):
    return {k: v for k, v in answer.items() if k != "elapsed_s"} if isinstance(answer, dict) else answer


class Surface(unittest.TestCase):
    def test_every_function_of_the_headers(self):
        found = functions("forerun.h") | functions("forerun_verbs.h")
        self.assertGreater(len(found), 25)
        for name in sorted(found):
            self.assertTrue(hasattr(forerun, MOVED.get(name, name)), f"forerun_{name} has nothing in Python")

    def test_every_verb_of_the_library(self):
        named = re.findall(r"^  ([a-z-]+) +", run("--help").stdout, re.M)
        asked = {verb.decode() for verb in forerun._verbs_known}
        self.assertLessEqual(asked, set(named))
        for verb in sorted(asked):
            function = verb.replace("-", "_")
            self.assertTrue(callable(getattr(forerun, MOVED.get(function, function), None)), f"no function for {verb}")
        for verb in ("calibrate", "validate", "iterations", "watch"):
            self.assertNotIn(verb, asked)

    def test_options_are_those_of_help(self):
        header = (ROOT / "library/include/forerun_verbs.h").read_text()
        for verb in sorted({v.decode() for v in forerun._verbs_known} - OWN):
            identifier = verb.replace("-", "_")
            function = getattr(verbs, MOVED.get(identifier, identifier))
            stated = {name for name, _, _ in getattr(verbs, "_" + function.__name__).values()}
            wanted = option_names(verb)
            self.assertEqual(stated, wanted, verb)
            taken = {name.rstrip("_").replace("_", "-") for name in inspect.signature(function).parameters} - {"words"}
            self.assertEqual(taken, wanted - {"json"}, verb)
            block = header[:header.index(f"forerun_{identifier}(")].rpartition("/**")[2]
            self.assertEqual(set(re.findall(r"^ \*    --([\w-]+)", block, re.M)), wanted, verb)

    def test_options_of_their_own_reach_the_commands(self):
        """What predict, search, simulate, place and fit leave out is reached by forerun.ask."""
        for verb in sorted(OWN):
            self.assertIn(verb.encode(), forerun._verbs_known)


class Numbers(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.keep = tempfile.TemporaryDirectory()
        cls.folder = pathlib.Path(cls.keep.name)
        os.chdir(ROOT)
        (cls.folder / "samples.jsonl").write_text(subprocess.run(["tests/golden/in/samples.sh"], capture_output=True, text=True).stdout)
        (cls.folder / "a.json").write_text('{"tp": 8, "dp": 8, "global_batch": 64}')
        search = ["--cluster", "frontier", "--model", "ffn-16384", "--ranks", "8,16", "--vary", "ghost=2,4", "--vary",
                  "method=tensor,phantom", "--top", "0", "--json"]
        (cls.folder / "search.json").write_text(run("search", *search).stdout)
        run("simulate", "--cluster", "frontier", "--model", "tests/golden/in/stages.json", "--set", "pp=4", "--set",
            "global_batch=16", "--trace", str(cls.folder / "trace.json"))

    @classmethod
    def tearDownClass(cls):
        cls.keep.cleanup()

    def the_same(self, words, answered):
        """The answer, or the error, that the program gives to these words."""
        try:
            mine, status = answered(), 0
        except forerun.Infeasible as error:
            mine, status = error.answer, error.status
        except forerun.Error as error:
            done = run(*words)
            self.assertEqual(done.returncode, error.status, words)
            self.assertIn(str(error), done.stderr, words)
            return
        done = run(*words, *([] if isinstance(mine, str) else ["--json"]))
        self.assertEqual(done.returncode, status, words)
        theirs = done.stdout if isinstance(mine, str) else json.loads(done.stdout)
        self.assertEqual(without_elapsed(mine), without_elapsed(theirs), words)
        self.assertEqual(mine.notes, done.stderr, words)

    def test_words(self):
        for words in commands(self.folder):
            if words[0] not in ("tune", "compare"):  # seconds each, which test_options tries
                self.the_same(words, lambda: forerun.ask(*words))

    def test_options(self):
        tried = set()
        for verb, *words in commands(self.folder):
            function = getattr(verbs, MOVED.get(verb.replace("-", "_"), verb.replace("-", "_")), None)
            if function is None or "--nothing" in words:
                continue
            table = getattr(verbs, "_" + function.__name__)
            names, rest, options = {name: key for key, (name, _, _) in table.items()}, [], {}
            words.reverse()
            while words:
                word = words.pop()
                letters = {"-o": "output" if "output" in names else "out", "-f": "force"}
                key = names.get(letters.get(word, word[2:])) if word.startswith("-") else None
                if key is None:
                    rest.append(word)
                elif table[key][1] is None:
                    options[key] = True
                else:
                    options.setdefault(key, []).append(words.pop())
            options = {key: one[0] if isinstance(one, list) and len(one) == 1 else one for key, one in options.items()}
            line = [verb, *rest, *(w for k, o in options.items() for v in (o if isinstance(o, list) else [o])
                                   for w in ([f"--{table[k][0]}"] + ([] if v is True else [v])))]
            self.the_same(line, lambda: function(*rest, **options))
            tried.add(verb)
        self.assertEqual(tried, {v.decode() for v in forerun._verbs_known} - OWN)


class Program(unittest.TestCase):
    """A verb that the library lacks, by a program in place of forerun."""

    def answer(self, printed, code):
        with tempfile.TemporaryDirectory() as folder, mock.patch.dict(os.environ, FORERUN_PROGRAM=f"{folder}/forerun"):
            program = pathlib.Path(folder, "forerun")
            program.write_text(f"#!/bin/sh\necho '{printed}'\necho 'forerun watch: a sentence' >&2\nexit {code}\n")
            program.chmod(0o755)
            return forerun.ask("watch", "run.log")

    def test_a_run_outside_its_interval_is_an_answer(self):
        self.assertEqual(self.answer("outside", 6), "outside\n")
        self.assertEqual(self.answer("inside", 0), "inside\n")

    def test_other_codes_are_exceptions(self):
        for code, error in ((1, forerun.Error), (2, forerun.UsageError), (3, forerun.InputError), (4, forerun.Infeasible)):
            with self.assertRaisesRegex(error, "^a sentence$"):
                self.answer("", code)


if __name__ == "__main__":
    unittest.main()
