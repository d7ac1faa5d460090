"""Answers print, draw and become rows.  Usage: test_results.py [unittest words]; `frames` first: frames alone, 77 without pandas"""

import copy
import json
import pathlib
import pickle
import shutil
import sys
import unittest
import xml.etree.ElementTree as xml

import forerun

STAGES = {"kind": "stages", "forward": "1 ms", "backward": "2 ms", "message": "1 MB"}
VARY = {"method": ["tensor", "phantom"], "ghost": "2,4"}


def searched():
    return forerun.search("frontier", "ffn-16384", ranks=[8, 16], vary=VARY, top=0)


def pandas():
    try:
        import pandas as module  # pylint: disable=import-outside-toplevel
        return module
    except ImportError:
        return None


class Words(unittest.TestCase):
    def test_a_result_is_a_dictionary(self):
        answer = forerun.predict("frontier", "ffn-16384")
        self.assertIsInstance(answer, dict)
        self.assertEqual(json.loads(answer.json()), answer)
        self.assertEqual(pickle.loads(pickle.dumps(answer)), answer)
        self.assertEqual(copy.deepcopy(answer), answer)

    def test_it_prints_its_facts_and_its_table(self):
        answer = searched()
        text = repr(answer)
        self.assertIn("forerun search\n", text)
        self.assertIn(f"{answer['top'][0]['iteration_time_s']:.6g}", text)
        self.assertLessEqual(max(map(len, text.splitlines()[:20])), 100)
        page = xml.fromstring(f"<div>{answer._repr_html_()}</div>")
        self.assertEqual(len(page.findall("table")), 2)
        self.assertEqual(len(page.findall("table")[1]), 1 + len(answer["top"]))

    def test_words_of_others_are_escaped(self):
        answer = forerun.Result(schema="forerun/list/1", table="<b>", rows=[{"name": "<script>&"}])
        self.assertEqual(xml.fromstring(f"<div>{answer._repr_html_()}</div>").findall(".//b"), [])

    def test_long_tables_say_how_much_is_left_out(self):
        rows = forerun.list_("keys").rows
        self.assertIn(f"... {len(rows) - 10} more", repr(forerun.list_("keys")))

    def test_rows_are_flat(self):
        answer = searched()
        self.assertEqual([row["plan.tp"] for row in answer.rows], [one["plan"]["tp"] for one in answer["top"]])
        self.assertEqual(forerun.predict("frontier", "ffn-16384").rows[0]["memory_B.peak"],
                         forerun.predict("frontier", "ffn-16384")["memory_B"]["peak"])
        for verb in (forerun.collective(cluster="dgx-h100", op="all_reduce", ranks=8), forerun.place("lassen", ranks=16, ways=4),
                     forerun.ask("place", "--cluster", "lassen", "--ranks", 16, "--ways", 4)):
            self.assertGreater(len(verb.rows), 1)
            self.assertIn("\n", repr(verb))

    def test_scripts_print_as_they_are(self):
        script = forerun.emit("megatron", "dgx-h100", "llama-3-8b", set={"tp": 8})
        self.assertTrue(repr(script).startswith("#!/bin/bash\n"))
        self.assertEqual(script, forerun.ask("predict", "dgx-h100", "llama-3-8b", "--set", "tp=8", "--emit", "megatron"))
        self.assertEqual(script.document["schema"], "forerun/emit/1")
        self.assertIn("<pre>", script._repr_html_())

    def test_words_may_be_paths_numbers_and_documents(self):
        path = pathlib.Path(__file__).parent / "plan.json"
        plan = {"tp": 4, "dp": 16, "global_batch": 64}
        asked = [forerun.ask("predict", "--cluster", "dgx-h100", "--model=llama-3-8b", "--plan", one) for one in (path, plan)]
        self.assertEqual(asked[0]["iteration_time_s"], asked[1]["iteration_time_s"])

    def test_notes_say_what_was_taken(self):
        self.assertIn("taken as --cluster dgx-h100", forerun.ask("predict", "dgx-h100", "llama-3-8b", "--set=tp=8").notes)

    def test_a_frame_needs_pandas(self):
        if pandas() is None:
            with self.assertRaisesRegex(ImportError, "python3-pandas"):
                searched().to_frame()


@unittest.skipUnless(shutil.which("gnuplot"), "no gnuplot")
class Figures(unittest.TestCase):
    def svg(self, figure):
        self.assertIsInstance(figure, forerun.Figure)
        self.assertTrue(xml.fromstring(figure.svg).tag.endswith("svg"))
        self.assertTrue(figure._repr_html_().startswith("<svg"))

    def test_answers_draw_themselves(self):
        self.svg(searched().draw())
        self.svg(forerun.predict("frontier", "ffn-16384").draw(width="84mm"))
        self.svg(forerun.plot("pareto", searched()))
        with self.assertRaisesRegex(ValueError, "figures"):
            forerun.list_("keys").draw()
        with self.assertRaises(forerun.UsageError):
            searched().draw("no-such-figure")

    def test_a_simulation_shows_its_timeline(self):
        answer = forerun.simulate("frontier", STAGES, set={"pp": 4, "global_batch": 16})
        self.svg(answer.draw())
        self.assertIn("<svg", answer._repr_html_())
        self.assertNotIn("trace", answer)

    def test_results_make_a_page(self):
        self.assertIn("</html>", forerun.report(searched()))


class Frames(unittest.TestCase):
    def test_frames_are_the_rows(self):
        for answer in (searched(), forerun.predict("frontier", "ffn-16384"), forerun.ask("place", "--cluster=lassen", "--ranks=16", "--ways=4")):
            frame = answer.to_frame()
            self.assertEqual(len(frame), len(answer.rows))
            self.assertEqual(list(frame.columns), list(dict.fromkeys(key for row in answer.rows for key in row)))
            self.assertTrue(answer.frame.equals(frame))
        self.assertEqual(searched().frame["iteration_time_s"].tolist(), [one["iteration_time_s"] for one in searched()["top"]])


if __name__ == "__main__":
    if sys.argv[1:2] == ["frames"]:
        if pandas() is None:
            print("Skipped: no pandas (Debian: python3-pandas)")
            sys.exit(77)
        unittest.main(argv=[sys.argv[0], "Frames"])
    unittest.main(argv=[sys.argv[0], "Words", "Figures", *sys.argv[1:]])
