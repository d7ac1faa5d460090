#!/usr/bin/env python3
"""links.py ROOT [HTML]: every link of README.md, CONTRIBUTING.md and the pages of docs/ leads to a file, and to a heading of
it.  With HTML, the folder of the site, every address of its pages leads to a page and a place of it, and none elsewhere
is loaded, in their place.  A link to another host is not followed."""
import html.parser
import pathlib
import re
import sys
import urllib.parse

PAGES = ["README.md", "CONTRIBUTING.md", "docs/**/*.md", "tests/**/README.md", "examples/**/README.md"]
LINK = re.compile(r"!?\[[^]]*\]\(([^)\s]+)\)|<(?:img|source|a)[^>]*\b(?:src|href)=\"([^\"]+)")


def lines_of(text):
    code = False
    for number, line in enumerate(text.splitlines(), 1):
        if line.lstrip().startswith("```"):
            code = not code
        elif not code:
            yield number, line


def anchors(path):
    """Of headings, as GitHub makes them: the second of a name has -1."""
    found, seen = set(), {}
    for _, line in lines_of(path.read_text()):
        match = re.match(r"#+ +(.*?)\s*#*$", line)
        if match:
            words = re.sub(r"!?\[([^]]*)\]\([^)]*\)|`", r"\1", match.group(1))
            name = re.sub(r"[^\w\- ]", "", words.lower()).replace(" ", "-")
            count = seen.get(name, 0)
            seen[name] = count + 1
            found.add(f"{name}-{count}" if count else name)
        found.update(re.findall(r'(?:id|name)="([^"]+)"', line))
    return found


def pages(root):
    known = {}
    for path in sorted({p for pattern in PAGES for p in root.glob(pattern) if "build" not in p.relative_to(root).parts[:1]}):
        for number, line in lines_of(path.read_text()):
            for match in LINK.finditer(re.sub(r"`[^`]*`", "", line)):
                address = match.group(1) or match.group(2)
                place = f"{path.relative_to(root)}:{number}"
                if re.match(r"[a-z]+:", address):
                    continue
                name, _, anchor = urllib.parse.unquote(address).partition("#")
                there = (path.parent / name).resolve() if name else path
                if not there.exists():
                    yield f"{place}: there is no {address}"
                elif anchor and there.suffix == ".md":
                    if there not in known:
                        known[there] = anchors(there)
                    if anchor not in known[there]:
                        yield f"{place}: {name or path.name} has no heading #{anchor}"


class Page(html.parser.HTMLParser):
    """Addresses, those that are loaded unasked, and places."""

    def __init__(self, text):
        super().__init__()
        self.addresses, self.loaded, self.places = [], [], set()
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        for name, value in attributes:
            if name in ("id", "name") and value:
                self.places.add(value)
            if name in ("href", "src") and value:
                self.addresses.append(value)
                if name == "src" or tag == "link" and dict(attributes).get("rel") not in ("canonical", "prev", "next"):
                    self.loaded.append(value)


def site(folder):
    read = {}

    def of(path):
        if path not in read:
            read[path] = Page(path.read_text(errors="replace"))
        return read[path]

    for path in sorted(folder.rglob("*.html")):
        if path.name == "404.html":  # its addresses begin at the host
            continue
        place = path.relative_to(folder)
        for address in of(path).loaded:
            if re.match(r"(https?:)?//", address):
                yield f"{place}: loads {address}"
        for address in of(path).addresses:
            if re.match(r"(https?:)?//|mailto:|data:|javascript:", address):
                continue
            name, _, anchor = urllib.parse.unquote(address.split("?")[0]).partition("#")
            there = (path.parent / name).resolve() if name else path
            if there.is_dir():
                there = there / "index.html"
            if not there.exists():
                yield f"{place}: there is no {address}"
            elif anchor and there.suffix == ".html" and anchor not in of(there).places and anchor != "__":
                yield f"{place}: {name or path.name} has no place #{anchor}"


def main(arguments):
    bad = list(site(pathlib.Path(arguments[1]).resolve()) if len(arguments) > 1 else pages(pathlib.Path(arguments[0]).resolve()))
    print("\n".join(bad), end="\n" if bad else "")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
