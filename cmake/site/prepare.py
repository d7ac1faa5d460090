"""prepare.py SOURCE OUT VERSION: what mkdocs builds the site from, in OUT: the pages of SOURCE/docs and README.md as the
first of them, and mkdocs.yml with all pages in order.  A link that leads out of the pages becomes its words."""
import json
import pathlib
import re
import shutil
import sys

SECTIONS = [("Home", ["index.md"]), ("Tutorial", ["tutorial.md"]), ("How-to", ["how-to/*.md", "gpu.md", "library.md"]),
            ("Reference", ["reference/*.md"]), ("Explanation", ["explanation/*.md", "architecture.md"]), ("Gallery", ["gallery.md"]),
            ("Glossary", ["glossary.md"]), ("Evidence", ["evidence/*.md"])]
LINK = re.compile(r"(!?)\[([^]]*)\]\(([^)\s]+)\)|(<img[^>]*\bsrc=\")([^\"]+)")


def moved(path):
    """Where a file of the sources is among the pages; None: nowhere."""
    if path == pathlib.Path("README.md"):
        return pathlib.Path("index.md")
    return path.relative_to("docs") if path.parts[:1] == ("docs",) and path.suffix else None


def relative(target, page):
    up = len(page.parts) - 1
    return "../" * up + target.as_posix()


def page_of(source, path):
    """The text of page @p path with its links as they are there."""
    page = moved(path)

    def link(match):
        picture, words, address, image, file = match.groups()
        address = address or file
        if re.match(r"[a-z]+:|#", address):
            return match.group(0)
        name, _, anchor = address.partition("#")
        there = (source / path.parent / name).resolve()
        target = moved(there.relative_to(source)) if there.is_file() and there.is_relative_to(source) else None
        if target is None:
            return words if words is not None else match.group(0)
        new = relative(target, page) + ("#" + anchor if anchor else "")
        return image + new if image else f"{picture}[{words}]({new})"

    text, code = [], False
    for line in (source / path).read_text().split("\n"):
        code ^= line.lstrip().startswith("```")
        text.append(line if code else LINK.sub(link, line))
    return "\n".join(text)


def title(text, path):
    found = re.search(r"^# (.*)$", text, re.M)
    return found.group(1) if found else path.stem


def main(source, out, version):
    source, out = pathlib.Path(source).resolve(), pathlib.Path(out).resolve()
    pages = out / "pages"
    shutil.rmtree(pages, ignore_errors=True)
    titles = {}
    files = [pathlib.Path("README.md")] + [p.relative_to(source) for p in sorted((source / "docs").rglob("*"))]
    for path in files:
        if not (source / path).is_file() or path.suffix not in (".md", ".svg", ".png", ".ipynb"):
            continue
        page = pages / moved(path)
        page.parent.mkdir(parents=True, exist_ok=True)
        if path.suffix == ".md":
            text = page_of(source, path)
            page.write_text(text)
            titles[moved(path).as_posix()] = title(text, path)
        else:
            shutil.copyfile(source / path, page)
    nav = []
    for name, patterns in SECTIONS:
        found = [p.relative_to(pages).as_posix() for pattern in patterns for p in sorted(pages.glob(pattern))]
        found.sort(key=lambda p: not p.endswith("README.md"))
        if len(found) == 1:
            nav.append({name: found[0]})
        elif found:
            nav.append({name: [{titles[p]: p} for p in found]})
    if (out / "api").is_dir():
        shutil.copytree(out / "api", pages / "api")
        nav.append({"C API": "api/index.html"})
    theme = pathlib.Path(__file__).resolve().parent / "theme"
    (out / "mkdocs.yml").write_text(json.dumps({  # which is YAML
        "site_name": f"Forerun {version}", "docs_dir": str(pages), "site_dir": str(out / "html"), "use_directory_urls": False,
        "theme": {"name": "material", "custom_dir": str(theme), "font": False, "features": ["navigation.tabs", "navigation.top"],
                  "palette": {"primary": "teal", "accent": "teal"}},
        "extra_css": ["assets/forerun.css"], "markdown_extensions": ["tables", "fenced_code", {"toc": {"permalink": True}}], "nav": nav}, indent=1))


if __name__ == "__main__":
    main(*sys.argv[1:])
