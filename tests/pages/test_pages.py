"""The check of pages can fail, and write mends what it may: pages of a line or two, in a folder of their own."""
import contextlib
import io
import pathlib
import sys
import tempfile

import pages

# The fault to be found, the page, and whether write mends it.
CASES = [
    ("not what is printed", "```console\n$ echo one\ntwo\n```", True),
    ("output is missing", "```console\n$ echo one\n```", True),
    ("a command fails", "```console\n$ false\n```", False),
    ("a script fails in its middle", "```sh\nfalse\ntrue\n```", False),
    ("another exit code", "<!-- exit: 3 -->\n```console\n$ exit 4\n```", False),
    ("no reason", "<!-- not run: no -->\n```sh\nfalse\n```", False),
    ("an unknown comment", "<!-- line: 1 -->\n```console\n$ echo one\none\n```", False),
    ("a pattern that finds nothing", "<!-- lines: /two/ -->\n```console\n$ echo one\n```", False),
    ("an empty pattern", "<!-- lines: x -->\n```console\n$ echo one\n```", False),
    ("cut elsewhere", "<!-- lines: 1 -->\n```console\n$ seq 3\n1\n2\n3\n```", True),
    ("a page too long", "<!-- fewer than: 1 lines -->", False),
    ("no picture", "<!-- picture: a.svg docs/a.svg -->", False),
    ("another picture", "```sh\necho a >a.svg\n```\n<!-- picture: a.svg docs/a.svg -->", True),
]
GOOD = [
    "```console\n$ echo one \\\n      two\none two\n$ true\n```",
    "<!-- lines: 1, 3-4, /^7/+1 -->\n```console\n$ seq 9\n1\n...\n3\n4\n...\n7\n8\n...\n```",
    "<!-- output differs: it is random -->\n```console\n$ date +%N\n1\n```",
    "<!-- varies: /[0-9]+/ it is random -->\n```console\n$ date +%N\n1\n```",
    "```console\n$ echo 5 plans in $(date +%N) ms\n5 plans in 3 ms\n```",
    "<!-- not run: it needs a cluster -->\n```sh\nfalse\n```",
    "<!-- exit: 4 -->\n```console\n$ exit 4\n```",
    "<!-- needs: no-such-program -->\n```sh\nno-such-program\n```",
    "<!-- file: a.txt -->\n```text\nhello\n```\n\n```console\n$ cat a.txt\nhello\n```",
    "```sh\nexport WORD=hello\n```\n\n```console\n$ echo $WORD\nhello\n```",
]


def resolve(mode, root, page):
    with contextlib.redirect_stdout(io.StringIO()) as said:
        code = pages.resolved(page, mode == "write", root, root, root)
    return code, said.getvalue()


def main():
    bad = []
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder).resolve()
        page = root / "page.md"
        for text in GOOD:
            page.write_text("# A page\n\n" + text + "\n")
            before = page.read_text()
            for mode in ("check", "write"):
                code, said = resolve(mode, root, page)
                if code != 0 or page.read_text() != before:
                    bad.append(f"{mode} should leave this page as it is:\n{text}\n{said}")
        for what, text, mended in CASES:
            page.write_text("# A page\n\n" + text + "\n")
            if resolve("check", root, page)[0] != 1:
                bad.append(f"{what}: not found")
            written = resolve("write", root, page)
            if (written[0] == 0) != mended or (mended and resolve("check", root, page)[0] != 0):
                bad.append(f"{what}: write {'did not mend' if mended else 'did not report'} it: {written[1]}")
    if bad:
        print("\n".join(bad))
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
