"""The Python module against the program, and its errors.  Usage: test_forerun.py BIN [unittest words]"""

import json
import os
import subprocess
import sys
import tempfile
import threading
import unittest

import forerun

BIN = sys.argv.pop(1)
SAMPLES = os.path.join(os.path.dirname(__file__), "../golden/in/samples.sh")
PHANTOM = {"method": "phantom", "tp": 8, "ghost": 16}


def program(*words):
    done = subprocess.run([os.path.join(BIN, "forerun"), *words, "--json"], capture_output=True)
    return json.loads(done.stdout)


def without_elapsed(answer):
    return {key: value for key, value in answer.items() if key != "elapsed_s"}


class Answers(unittest.TestCase):
    def test_predict_is_the_programs(self):
        words = [w for key, value in PHANTOM.items() for w in ("--set", f"{key}={value}")]
        self.assertEqual(forerun.predict("frontier", "ffn-16384", set=PHANTOM),
                         program("predict", "--cluster", "frontier", "--model", "ffn-16384", *words))

    def test_search_is_the_programs(self):
        mine = forerun.search("frontier", "ffn-16384", ranks=[8, 16], objective="energy",
                              vary={"method": ["tensor", "phantom"], "ghost": "2,4,6"})
        theirs = program("search", "--cluster", "frontier", "--model", "ffn-16384", "--ranks", "8,16",
                         "--vary", "method=tensor,phantom", "--vary", "ghost=2,4,6", "--objective",
                         "energy")
        self.assertEqual(without_elapsed(mine), without_elapsed(theirs))

    def test_simulate_and_place_are_the_programs(self):
        stages = {"kind": "stages", "forward": "1 ms", "backward": "2 ms", "message": "1 MB"}
        plan = {"pp": 4, "global_batch": 16}
        words = ["--cluster", "frontier", "--model", json.dumps(stages), "--set", "pp=4", "--set",
                 "global_batch=16"]
        mine = forerun.simulate("frontier", stages, plan, network="shared", trace="csv")
        self.assertIn("start_s", mine.pop("trace"))
        self.assertEqual(mine, program("simulate", *words, "--network", "shared"))
        seats = forerun.place("lassen", ranks=16, ways=4, launcher="slurm")
        self.assertIn("#SBATCH", seats["launcher"])
        self.assertEqual(seats["placements"],
                         program("place", "--cluster", "lassen", "--ranks", "16", "--ways", "4"))

    def test_other_verbs_are_the_programs(self):
        mine = forerun.compare(cluster=["frontier", "dgx-h100"], model="llama-3-8b", ranks=64, set={"global_batch": 64})
        theirs = program("compare", "--cluster", "frontier", "--cluster", "dgx-h100", "--model", "llama-3-8b", "--ranks", "64", "--set",
                         "global_batch=64")
        self.assertEqual(without_elapsed(mine), without_elapsed(theirs))
        self.assertEqual(forerun.gemm(cluster="dgx-h100", m=4096, n=4096, k=4096, dtype="bf16"),
                         program("gemm", "--cluster", "dgx-h100", "--m", "4096", "--n", "4096", "--k", "4096", "--dtype", "bf16"))
        self.assertEqual(forerun.list_("clusters"), program("list", "clusters"))
        with self.assertRaises(forerun.UsageError):
            forerun.compare("--nothing")
        with self.assertRaises(forerun.InputError):
            forerun.gemm(cluster="no-such-machine", m=1, n=1, k=1)

    def test_software_is_an_input(self):
        name = "nemo-24.03"
        theirs = program("predict", "--cluster", "dgx-h100", "--model", "llama-3-8b", "--set", "tp=8", "--runtime", name)
        mine = forerun.predict("dgx-h100", "llama-3-8b", set={"tp": 8}, runtime=name)
        self.assertEqual(mine, theirs)
        self.assertEqual(mine["provenance"]["runtime"], name)
        ours = {"name": "ours", "from": name, "facts": [{"key": "host_launch", "value": "1 ms"}]}
        slow = forerun.Job("dgx-h100", "llama-3-8b", set={"tp": 8}, runtime=ours).predict()
        self.assertEqual(slow["provenance"]["runtime"], "ours")
        self.assertGreater(slow["iteration_time_s"], mine["iteration_time_s"])
        self.assertEqual(forerun.place("dgx-h100", ranks=16, ways=4, runtime=name)["placements"][0]["runtime"], name)
        with self.assertRaisesRegex(forerun.InputError, "did you mean"):
            forerun.predict("dgx-h100", "llama-3-8b", runtime="nemo-24.04")
        with self.assertRaisesRegex(forerun.UsageError, "standard input"):
            forerun.predict("dgx-h100", "llama-3-8b", runtime="-")

    def test_explain_says_what_binds(self):
        answer = forerun.explain("frontier", "ffn-16384", set=PHANTOM)
        self.assertEqual(answer["explain"]["binds"], "fixed")

    def test_a_job_follows_its_sets(self):
        job = forerun.Job("frontier", "ffn-16384", set=["method=phantom", "tp=8", "ghost=4"])
        narrow = job.predict()["iteration_time_s"]
        wide = job.set({"ghost": 64}).predict()["iteration_time_s"]
        self.assertLess(narrow, wide)
        self.assertEqual(job.set("ghost=4").predict()["iteration_time_s"], narrow)

    def test_an_answers_plan_is_a_plan(self):
        first = forerun.predict("frontier", "ffn-16384", set=PHANTOM)
        self.assertEqual(forerun.predict("frontier", "ffn-16384", plan=first["plan"]), first)

    def test_files_are_read(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "modèle.json")
            with open(path, "w") as file:
                json.dump({"kind": "ffn", "width": 1024, "layers": 2, "global_batch": 64,
                           "dtype": "fp32"}, file)
            self.assertGreater(forerun.predict("frontier", path)["iteration_time_s"], 0)

    def test_a_fit_is_a_cluster(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "samples.jsonl")
            with open(path, "w") as file:
                subprocess.run([SAMPLES], stdout=file, check=True)
            fitted = forerun.fit(path)
            cluster = fitted.pop("cluster")
            self.assertEqual(fitted, program("fit", path))
            model = {"kind": "ffn", "width": 1024, "layers": 4, "global_batch": 64, "dtype": "fp32"}
            self.assertGreater(forerun.predict(cluster, model)["iteration_time_s"], 0)

    def test_threads_ask_at_once(self):
        job, got = forerun.Job("frontier", "ffn-16384", set=PHANTOM), []
        threads = [threading.Thread(target=lambda: got.append(job.predict())) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(got, [job.predict()] * 8)


class Errors(unittest.TestCase):
    def refuses(self, kind, status, words, function, *arguments, **options):
        with self.assertRaisesRegex(kind, words) as caught:
            function(*arguments, **options)
        self.assertEqual(caught.exception.status, status)
        return caught.exception

    def test_input(self):
        self.refuses(forerun.InputError, 3, 'did you mean "frontier"', forerun.predict, "frontir", "m")
        self.refuses(forerun.InputError, 3, "plan#/tp", forerun.predict, "frontier", "ffn-16384",
                     {"tp": "eight"})
        self.refuses(forerun.InputError, 3, "no/such", forerun.fit, "/no/such/samples.jsonl")
        self.refuses(ValueError, 3, "unit", forerun.predict, "frontier", "ffn-16384",
                     set={"cluster.device.launch": 5})

    def test_usage(self):
        self.refuses(forerun.UsageError, 2, "objective", forerun.search, "frontier", "ffn-16384", 8,
                     objective="money")
        self.refuses(forerun.UsageError, 2, "without a model", forerun.Job("frontier").predict)
        self.refuses(forerun.UsageError, 2, "zero byte", forerun.predict, "a\0b", "ffn-16384")
        self.refuses(forerun.UsageError, 2, "network", forerun.simulate, "frontier", "ffn-16384",
                     network="simgrid")
        self.refuses(forerun.UsageError, 2, "vary", forerun.search, "frontier", "ffn-16384", 8,
                     vary=["ghots=2"])

    def test_infeasible(self):
        error = self.refuses(forerun.Infeasible, 4, "not divisible", forerun.predict, "frontier",
                             "ffn-16384", set={"dp": 3})
        self.assertIs(error.answer["feasible"], False)

    def test_a_refused_set_changes_nothing(self):
        job = forerun.Job("frontier", "ffn-16384", set=PHANTOM)
        before = job.predict()
        self.refuses(forerun.InputError, 3, "ghost", job.set, {"ghost": "many"})
        self.assertEqual(job.predict(), before)

    def test_a_library_that_is_none(self):
        environment = {**os.environ, "FORERUN_LIBRARY": "/no/such/library.so"}
        done = subprocess.run([sys.executable, "-c", "import forerun"], env=environment,
                              capture_output=True, text=True)
        self.assertEqual(done.returncode, 1)
        self.assertIn("FORERUN_LIBRARY", done.stderr.splitlines()[-1])


if __name__ == "__main__":
    unittest.main()
