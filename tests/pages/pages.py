"""pages.py check|write ROOT BIN LIB PAGE...: the commands of a page run, and the page shows what they print.

check   fails where a command fails or prints something else than the page shows
write   writes the page anew with what its commands print (`ninja documents` does that)

The commands of a page run in order, in one empty folder, with the programs of BIN on the PATH.  Exported variables last
until the page ends.  Beside that folder lies `shared`, the data of others, where the checkout has it or FORERUN_DATA names it.

    ```console      a command follows "$ ", with "\\" at the end of lines that go on; then what it prints
    ```sh           a script, which must succeed; what it prints is not shown

A comment before a block changes that; it is not seen by whoever reads the page:

    <!-- lines: 1-6, 9, /^memory/+1 -->      shows these lines of each command of the block, "..." for those left out:
                                             a number, a range, a pattern's first line, or that and N lines after it
    <!-- output differs: REASON -->          runs, but what it prints is another every time or on every machine
    <!-- varies: /PATTERN/ REASON -->        what the pattern finds may differ
    <!-- not run: REASON -->                 does not run: it needs what a test has not
    <!-- exit: 3 -->                         ends with this code, not with 0
    <!-- file: NAME -->                      not a command: the block is written to NAME, for the commands after it
    <!-- picture: FILE PATH -->              (after a block) FILE, as the commands left it, is PATH of the checkout
    <!-- needs: data -->                     stays as it is, with its pictures, where a program or the data are missing
    <!-- page needs: gnuplot, mpirun -->     anywhere: the page is skipped where a program is missing
    <!-- fewer than: 80 lines, 9000 characters -->   anywhere: how long the page may be

A table between <!-- scores: begin --> and <!-- scores: end --> holds the rows of scores.py."""
import difflib
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

import scores

# Parts of an answer that tell how long it took: different every time.
ALWAYS_VARIES = [re.compile(r"\bin [0-9.,]+ (us|ms|s|min)\b")]
SKIP = 77
FENCE = re.compile(r"^```(\w*)\s*$")
COMMENT = re.compile(r"^<!-- ([a-z ]+): (.*?) -->\s*$")
KEYS = {"lines", "output differs", "varies", "not run", "exit", "file", "picture", "needs", "page needs", "fewer than", "scores"}
WITH_REASON = {"output differs", "not run"}


class Wrong(Exception):
    """A fault of a page, as one sentence."""


def programs(root, folder, bin_folder, lib_folder):
    """The environment of a page's commands, in a temporary folder with the data beside it."""
    env = {key: value for key, value in os.environ.items()
           if not key.startswith(("FORERUN_", "OMPI_", "DISPLAY")) or key == "FORERUN_DATA"}
    data = pathlib.Path(env.pop("FORERUN_DATA", root.parent / "shared" / "data")).resolve()
    if data.is_dir():
        (folder / "shared").mkdir()
        (folder / "shared" / "data").symlink_to(data)
        env["FORERUN_DATA"] = str(data)
    library = folder / "library"
    library.mkdir()
    (library / "forerun.pc").write_text(
        "Name: forerun\nDescription: as built\nVersion: 0\n"
        f"Cflags: -I{root}/library/include\nLibs: -L{lib_folder} -Wl,-rpath,{lib_folder} -lforerun\n")
    env.update(PATH=f"{bin_folder}:{env['PATH']}", LC_ALL="C.UTF-8", HOME=str(folder), COLUMNS="80", NO_COLOR="1",
               PKG_CONFIG_PATH=str(library), PYTHONPATH=str(root / "library" / "python"),
               PYTHONDONTWRITEBYTECODE="1", FORERUN_LIBRARY=str(lib_folder / "libforerun.so"),
               OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1", OMPI_MCA_rmaps_base_oversubscribe="1")
    return env


class Shell:
    """Runs commands in one folder and hands exported variables from one to the next."""

    def __init__(self, folder, env):
        self.folder, self.env, self.state = folder, env, folder.parent / "exported"
        self.state.write_text("")

    def run(self, command):
        script = f'. "{self.state}"\n{command}\npage_code=$?\nexport -p >"{self.state}"\nexit $page_code\n'
        done = subprocess.run(["/bin/sh", "-c", script], cwd=self.folder, env=self.env, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
        return done.returncode, done.stdout.decode().splitlines()


def numbers_of(selection, lines):
    """Indices of the lines that a selection such as "1-3, /^memory/+1" names."""
    chosen = set()
    for item in re.findall(r"/[^/]*/(?:\+\d+)?|[^,\s]+", selection):
        if item.startswith("/"):
            pattern, after = item[1:].rsplit("/", 1)
            first = next((i for i, line in enumerate(lines) if re.search(pattern, line)), None)
            if first is None:
                raise Wrong(f'no line of the output has "{pattern}"')
            last = first + int(after or 0)
        else:
            ends = re.fullmatch(r"(\d+)(-?)(\d*)", item)
            if not ends:
                raise Wrong(f'"{item}" is no line number, range or /pattern/')
            first = int(ends[1]) - 1
            last = int(ends[3]) - 1 if ends[3] else len(lines) if ends[2] else first
        chosen.update(range(first, min(last + 1, len(lines))))
    return sorted(chosen)


def shown(lines, selection):
    """The lines to show, with "..." where some are left out."""
    while lines and not lines[-1].strip():
        lines = lines[:-1]
    lines = [line.rstrip() for line in lines]
    if not selection:
        return lines
    out, before = [], -1
    for number in numbers_of(selection, lines):
        if number > before + 1:
            out.append("...")
        out.append(lines[number])
        before = number
    if before < len(lines) - 1:
        out.append("...")
    return [line for i, line in enumerate(out) if line or "..." not in out[max(i - 1, 0):i + 2]]


def resolve(ours, theirs, varying):
    """Lines of the program, but as the page has them where they differ in what may vary."""
    def plain(line):
        for pattern in varying:
            line = pattern.sub("<varies>", line)
        return line
    had = [plain(line) for line in theirs]
    matcher = difflib.SequenceMatcher(None, had, [plain(line) for line in ours], autojunk=False)
    out = list(ours)
    for block in matcher.get_matching_blocks():
        out[block.b:block.b + block.size] = theirs[block.a:block.a + block.size]
    return out


def commands_of(body):
    """[(command as shown, lines shown below it)] of a console block."""
    found, at = [], 0
    while at < len(body):
        if not body[at].startswith("$ "):
            raise Wrong(f'a console block begins with "$ ", not with "{body[at][:40]}"')
        start = at
        while body[at].endswith("\\"):
            at += 1
        at += 1
        command, start = body[start:at], at
        while at < len(body) and not body[at].startswith("$ "):
            at += 1
        found.append((command, body[start:at]))
    return found


class Page:
    """A page, and what its commands make of it."""

    def __init__(self, path, root, shell):
        self.path, self.root, self.shell = path, root, shell
        self.lines = path.read_text().splitlines()
        self.wrong = []
        self.left_out = False  # a block, since something is missing here

    def missing(self, wanted):
        """Words of lists such as "gnuplot, data" that are not here."""
        words = [word for line in wanted for word in re.split(r",\s*", line)]
        return [word for word in words if not ("FORERUN_DATA" in self.shell.env if word == "data"
                                               else shutil.which(word, path=self.shell.env["PATH"]))]

    def directives(self, key):
        return [m[2] for m in map(COMMENT.match, self.lines) if m and m[1] == key]

    def complain(self, line, text):
        self.wrong.append(f"{self.path.relative_to(self.root)}, line {line + 1}: {text}")

    def console(self, at, body, how):
        """The block's lines as they should be."""
        out = []
        varying = ALWAYS_VARIES + [re.compile(v.split("/")[1]) for v in how.get("varies", [])]
        for command, had in commands_of(body):
            script = "\n".join(command)[2:]
            code, printed = self.shell.run(script)
            wanted = int(how.get("exit", ["0"])[0])
            if code != wanted:
                self.complain(at, f"exit code {code}, not {wanted}: {script}\n  " + "\n  ".join(printed[-5:]))
            if "output differs" in how:
                out += command + had
            else:
                out += command + resolve(shown(printed, how.get("lines", [""])[0]), had, varying)
        return out

    def block(self, at, language, body, how):
        for key in WITH_REASON & how.keys():
            if len(how[key][0]) < 8:
                self.complain(at, f'"{key}" needs a reason')
        if "not run" in how:
            return body
        if self.missing(how.get("needs", [])):
            self.left_out = True
            return body
        if "file" in how:
            target = self.shell.folder / how["file"][0]
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text("\n".join(body) + "\n")
        elif language == "console":
            return self.console(at, body, how)
        elif language == "sh":
            code, printed = self.shell.run("\n".join(["set -e"] + body + ["set +e"]))
            if code != int(how.get("exit", ["0"])[0]):
                self.complain(at, f"exit code {code}\n  " + "\n  ".join(printed[-5:]))
        return body

    def run(self):
        """The page as it should be."""
        out, how, at = [], {}, 0
        while at < len(self.lines):
            line = self.lines[at]
            comment, fence = COMMENT.match(line), FENCE.match(line)
            if comment and comment[1] not in KEYS:
                self.complain(at, f'"{comment[1]}" is none of {", ".join(sorted(KEYS))}')
            elif comment:
                how.setdefault(comment[1], []).append(comment[2])
            elif line.strip() and not fence:
                how = {}
            out.append(line)
            at += 1
            if not fence:
                continue
            end = next(i for i in range(at, len(self.lines)) if self.lines[i].startswith("```"))
            try:
                out += self.block(at - 1, fence[1], self.lines[at:end], how)
            except Wrong as wrong:
                self.complain(at - 1, str(wrong))
                out += self.lines[at:end]
            out.append(self.lines[end])
            at, how = end + 1, {}
        if "begin" in self.directives("scores") and not self.missing(["data"]):
            return scores.written(out, self.shell)
        return out

    def too_long(self, lines):
        size = {"lines": len(lines), "characters": sum(len(line) + 1 for line in lines)}
        for limits in self.directives("fewer than"):
            for number, unit in re.findall(r"(\d+) (lines|characters)", limits):
                if size[unit] > int(number):
                    self.complain(0, f"{size[unit]} {unit}, of at most {number}")

    def pictures(self, write):
        for line in self.directives("picture"):
            made, kept = self.shell.folder / line.split()[0], self.root / line.split()[1]
            if not made.exists() and self.left_out:
                continue
            if not made.exists():
                self.complain(0, f"the commands leave no {made.name}")
            elif write:
                kept.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(made, kept)
            elif not kept.exists() or not same_picture(made, kept):
                self.complain(0, f"{line.split()[1]} is not what the commands draw: run `ninja documents` in the build folder")


def same_picture(made, kept):
    """Byte by byte where the same gnuplot drew both."""
    made, kept = made.read_bytes(), kept.read_bytes()
    maker = re.compile(rb"GNUPLOT[^<]*")
    drawn, was = maker.search(made), maker.search(kept)
    return made == kept or (drawn and was and drawn[0] != was[0])


def resolved(path, write, root, bin_folder, lib_folder):
    """0, 1 or 77 of one page."""
    with tempfile.TemporaryDirectory() as temporary:
        work = pathlib.Path(temporary) / "work"
        work.mkdir()
        page = Page(path, root, Shell(work, programs(root, work.parent, bin_folder, lib_folder)))
        missing = page.missing(page.directives("page needs"))
        if missing:
            print(f"Skipped: no {', '.join(missing)}")
            return SKIP
        lines = page.run()
        page.too_long(lines)
        page.pictures(write)
        if write:
            path.write_text("\n".join(lines) + "\n")
        elif lines != page.lines:
            page.wrong += difflib.unified_diff(page.lines, lines, str(path), "what its commands print", lineterm="", n=1)
            page.wrong.append("run `ninja documents` in the build folder")
    print("\n".join(page.wrong), end="\n" if page.wrong else "")
    return 1 if page.wrong else 0


def main():
    write, (root, bin_folder, lib_folder) = sys.argv[1] == "write", [pathlib.Path(a).resolve() for a in sys.argv[2:5]]
    codes = [resolved(pathlib.Path(page).resolve(), write, root, bin_folder, lib_folder) for page in sys.argv[5:]]
    return 1 if 1 in codes else SKIP if SKIP in codes and not write else 0


if __name__ == "__main__":
    sys.exit(main())
