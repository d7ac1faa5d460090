#!/usr/bin/env python3
"""reading.py ROOT [--list [PATH...] | --write]: do people who read our words understand them?

In README.md, CONTRIBUTING.md, pages of docs/ and headers' comments, in help and messages (string literals of the
program): no sentence of more than 35 words, no table cell of more than 200 characters, none of the words that the
project has given up.  Comments begin with their subject, in tests too.  What stands in backticks or code blocks is not prose.

Files that hold more than nothing stand in reading.tsv with a number that may only fall, and why; --list shows the
places of a file, --write puts today's numbers there.  Of docs/ alone nothing is forgiven but by a reason."""
import pathlib
import re
import sys

MOST_WORDS, MOST_CELL = 35, 200
# Left what is not written any more, right what is.
GIVEN_UP = [
    (r"(?<!head)(?<!bed)(?<!class)rooms?", "scratch memory, buffer, capacity"), (r"spelt out", "stated, printed"),
    (r"(?:is|are|be|was|were|been|not|never|it) told", "stated, printed, reported"),
    (r"(?:is|are|was|were) missed", "model error, residual"), (r"seats?|seated", "placement, rank mapping"),
    (r"swept", "recurrence cache"), (r"twins?", "equivalent plan"), (r"undisturbed", "idle"),
    (r"as it usually is", "under typical load"), (r"ghosts", "ghost neurons"),
]
WORDS = re.compile(r"\b(" + "|".join(pattern for pattern, _ in GIVEN_UP) + r")\b", re.I)
PAGES = ["README.md", "CONTRIBUTING.md", "docs/**/*.md"]
EXEMPT = ["docs/evidence/"]  # a diary, which is not rewritten
# Comments, in tests too, begin with their subject; a question may begin with What.
TURNED = re.compile(r"(What|Of|But for|So that|As far as)\b")
MODULES = ["base", "topology", "models", "sim", "search", "traces", "plots", "trust", "answer", "calibrate", "real", "studies",
           "app", "library"]


def sentences(lines):
    """(line number, sentence) of lines (number, text); an empty text ends a paragraph."""
    part, first = [], 0
    for number, text in list(lines) + [(0, "")]:
        if text.strip():
            first = first or number
            part.append(text.strip())
            continue
        for sentence in re.split(r"(?<=[.!?])\s+", " ".join(part)):
            if sentence:
                yield first, sentence
        part, first = [], 0


def plain(text):
    """Without code, addresses and marks."""
    text = re.sub(r"`[^`]*`|@(?:p|c|param(?:\[\w+\])?)\s+\w+|\w+(?:->|\.)\w+|\w+\(|\w*_\w*|--\w[\w-]*", "x", text)
    text = re.sub(r"!?\[([^]]*)\]\([^)]*\)", r"\1", text)
    return re.sub(r"<[^>]+>|https?://\S+", " ", text)


def of_page(text):
    """Prose and cells of Markdown."""
    prose, cells, code = [], [], False
    for number, line in enumerate(text.splitlines(), 1):
        bare = line.strip()
        if bare.startswith("```"):
            code = not code
        if code or bare.startswith(("```", "<!--")) or line.startswith("    "):
            prose.append((number, ""))
        elif bare.startswith("|"):
            prose.append((number, ""))
            cells += [(number, cell.strip()) for cell in re.split(r"(?<!\\)\|", bare.strip("|"))]
        else:
            if re.match(r"([-*]|\d+\.|#+) ", bare):
                prose.append((number, ""))
            prose.append((number, re.sub(r"^([-*]|\d+\.|#+) ", "", bare)))
    return list(sentences(prose)), cells


def of_comments(text):
    """Sentences of the comments of a C file; indented lines are equations and pictures."""
    found = []
    for match in re.finditer(r"/\*\*?<?(.*?)\*/|//+(.*)", text, re.S):
        number = text.count("\n", 0, match.start()) + 1
        body = match.group(1) if match.group(1) is not None else match.group(2)
        lines = []
        for i, line in enumerate(body.split("\n")):
            line = re.sub(r"^\s*\*? ?", "", line) if i else line
            if line.lstrip().startswith(("@param", "@return")):
                lines.append((number + i, ""))  # each is a paragraph of its own
            lines.append((number + i, "" if line.startswith(("   ", "@file", "@param", "@return")) and i else line))
        found += sentences(lines)
    return found


def of_strings(text):
    """(line number, words) of string literals, neighbours joined; includes and short ones left out."""
    text = re.sub(r"/\*.*?\*/", lambda m: "\n" * m.group(0).count("\n"), text, flags=re.S)
    text = re.sub(r"(?m)^\s*#\s*include.*$|//.*$", "", text)
    for match in re.finditer(r'"(?:[^"\\\n]|\\.)*"(?:\s*(?:[A-Z_]+\s*)?"(?:[^"\\\n]|\\.)*")*', text):
        words = "".join(re.findall(r'"((?:[^"\\\n]|\\.)*)"', match.group(0)))
        words = words.replace('\\"', '"').replace("\\n", "\n")
        if len(words.split()) < 4 or len(re.findall(r"[{}=;]", words)) > len(words.split()) // 2:
            continue  # a label; a script or a style sheet
        number = text.count("\n", 0, match.start()) + 1
        for _, sentence in sentences([(number, line if not line.startswith("  ") else "") for line in words.split("\n")]):
            yield number, sentence


def faults(place, what, text):
    clean = plain(text)
    if what == "cell" and len(text) > MOST_CELL:
        yield place, f"a table cell of {len(text)} characters", text
    words = len(re.findall(r"[^\W\d_][\w'-]*", clean))
    if what != "cell" and words > MOST_WORDS:
        yield place, f"{words} words in a sentence", text
    for word in WORDS.findall(clean):
        yield place, f'"{word}"', text


def read(root):
    """{file: [(line, fault, text)]}"""
    found = {}

    def add(path, what, pairs):
        name = str(path.relative_to(root))
        for number, text in pairs:
            found.setdefault(name, []).extend(faults(number, what, text))

    for pattern in PAGES:
        for path in sorted(root.glob(pattern)):
            if not str(path.relative_to(root)).startswith(tuple(EXEMPT)):
                prose, cells = of_page(path.read_text())
                add(path, "prose", prose)
                add(path, "cell", cells)
    for module in MODULES:
        for path in sorted((root / module).rglob("*.[ch]")):
            text = path.read_text()
            if path.suffix == ".h":
                add(path, "comment", of_comments(text))
            add(path, "string", of_strings(text))
    for folder in MODULES + ["tests", "examples"]:
        for path in sorted((root / folder).rglob("*.[ch]")):
            for number, text in of_comments(path.read_text(errors="replace")):
                if TURNED.match(text) and not text.endswith("?"):
                    found.setdefault(str(path.relative_to(root)), []).append(
                        (number, "a comment that does not begin with its subject", text))
    return {name: list for name, list in found.items() if list}


def main(arguments):
    root = pathlib.Path(arguments[0])
    table = root / "tests" / "repo" / "reading.tsv"
    found = read(root)
    if "--list" in arguments:
        wanted = arguments[arguments.index("--list") + 1:]
        for name, places in found.items():
            if not wanted or name.startswith(tuple(wanted)):
                for line, fault, text in places:
                    print(f"{name}:{line}: {fault}: {text[:120]}")
        return 0
    forgiven, reasons = {}, {}
    for row in table.read_text().splitlines() if table.exists() else []:
        if row and not row.startswith("#"):
            name, most, reason = row.split("\t")
            forgiven[name], reasons[name] = int(most), reason
    if "--write" in arguments:
        rows = [f"{name}\t{len(found[name])}\t{reasons.get(name, 'written before the rules')}" for name in sorted(found)]
        table.write_text("# Words of a file that reading.py would not let through: how many may be left, which may only fall, and why.\n"
                         + "\n".join(rows) + "\n")
        return 0
    bad = 0
    for name, places in sorted(found.items()):
        if len(places) > forgiven.get(name, 0):
            bad += 1
            print(f"{name}: {len(places)} places, {forgiven.get(name, 0)} forgiven")
            for line, fault, text in places[:4]:
                print(f"  {name}:{line}: {fault}: {text[:100]}")
    if bad:
        print("see the words and sentences that are not written any more in tests/repo/reading.py; --list FILE shows all of a file")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
