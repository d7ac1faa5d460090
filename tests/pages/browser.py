"""browser.py BIN: pages in a real browser, where there is one; else skipped (77).

Names that are scripts stay text; tables sort and filter; hover shows a plan; a slider changes days and money; nothing is cut
off on a phone, a desktop or paper; no page complains on the console or asks for anything outside its file."""
import json
import os
import re
import subprocess
import sys
import tempfile

from chromium import Browser, Missing

HERE = os.path.dirname(os.path.abspath(__file__))
GOLDEN, FIXTURES = os.path.join(HERE, "../golden/in"), os.path.join(HERE, "../plots/fixtures")
BIN = os.path.abspath(sys.argv[1])
WIDTHS = 390, 1280
PAPER = 687  # A4 without its margins, in pixels


def check(holds, what):
    if not holds:
        sys.exit("browser: " + what)


def forerun(*words, accept=(0,)):
    done = subprocess.run([os.path.join(BIN, "forerun"), *words], capture_output=True, text=True)
    check(done.returncode in accept, " ".join(words) + ": " + done.stderr)
    return done.stdout


def address(name):
    return "file://" + os.path.abspath(name)


def is_whole(page, name, width):
    check(page.complaints() == [], "%s complains: %s" % (name, page.complaints()))
    wide = page.value("document.documentElement.scrollWidth")
    check(wide <= width, "%s is %d pixels wide on a screen of %d" % (name, wide, width))


def names_stay_text(browser):
    """The same page without its escapes and its policy runs them, or the browser proves nothing."""
    evil = ("<script>document.documentElement.setAttribute(\"pwned\",1)</script><img src=x onerror=\"document."
            "documentElement.setAttribute(`pwned`,1)\"><svg onload=\"document.documentElement.setAttribute(`pwned`,1)\">")
    samples = subprocess.run(["sh", os.path.join(GOLDEN, "samples.sh")], capture_output=True, check=True).stdout
    open("samples.jsonl", "wb").write(samples)
    fit = forerun("fit", "samples.jsonl", "--json")
    keys = "op|level|host|hosts|cpu|kernel|mpi|blas|pinning|series|cluster|file|tool|setup|up_to|min|latency|per_byte"
    open("evil.json", "w").write(re.sub('("(%s)": *)"[^"]*"' % keys, lambda m: m[1] + json.dumps(evil), fit))
    forerun("report", "evil.json", "-o", "evil.html", accept=(0, 3))
    text = open("evil.html").read()
    check("pwned" in text, "the page does not show the names")
    body = text[:text.index("<script")]
    for escape, letter in (("&lt;", "<"), ("&gt;", ">"), ("&quot;", '"'), ("&#96;", "`"), ("&#39;", "'")):
        body = body.replace(escape, letter)
    open("control.html", "w").write(re.sub(".*Content-Security-Policy.*\n", "", body))
    control = browser.open(address("control.html"), 1280)
    if control.value("document.documentElement.getAttribute('pwned')") != "1":
        raise Missing("the browser runs no script at all")
    control.close()
    page = browser.open(address("evil.html"), 1280)
    check(page.value("document.documentElement.getAttribute('pwned')") is None, "a script of a name ran")
    check(page.value("document.body.textContent.includes('<script>document')"), "the names are not shown as text")
    is_whole(page, "evil.html", 1280)
    page.close()


def place(page, expression):
    """Where the middle of an element is, once it is in view."""
    return page.value("(() => { const e = %s; e.scrollIntoView({block: 'center'}); const r = e.getBoundingClientRect();"
                      " return [r.left + r.width / 2, r.top + r.height / 2] })()" % expression)


def tables_work(page):
    page.value("window.table = [...document.querySelectorAll('table.s')].find(t => t.tBodies[0].rows.length === 6); "
               "window.heads = [...table.tHead.rows[0].cells]; "
               "window.days = heads.findIndex(c => c.textContent === 'days'); null")
    order = "[...table.tBodies[0].rows].map(r => +r.cells[days].dataset.v)"
    for way in 1, -1:
        page.click(*place(page, "heads[days]"))
        values = page.value(order)
        check(values == sorted(values, reverse=way < 0) and len(set(values)) > 1, "a click on a head does not sort: %s" % values)
    page.value("window.find = table.parentNode.previousElementSibling; "
               "while (find.type !== 'search') find = find.previousElementSibling; null")
    page.click(*place(page, "find"))
    page.type("phantom")
    left = page.value("[...table.tBodies[0].rows].filter(r => !r.hidden).map(r => r.textContent)")
    check(0 < len(left) < 6 and all("phantom" in row for row in left), "the filter leaves %s" % left)
    page.value("find.value = ''; find.oninput(); null")


def figures_live(page):
    """Hover over a point of the first figure; its colours are the methods."""
    page.value("window.figure = document.querySelector('figure[data-chart]'); figure.scrollIntoView({block: 'center'}); "
               "window.chart = Chart.getChart(figure.querySelector('canvas')); null")
    groups = page.value("chart.data.datasets.map(d => d.label)")
    check(groups == ["phantom", "tensor"], "the colours are %s" % groups)
    colours = page.value("chart.data.datasets.map(d => d.borderColor)")
    check(colours == ["#D55E00", "#0072B2"], "the pictures have other colours than %s" % colours)  # plots/picture.c
    lowest = page.value("Object.values(Chart.instances).flatMap(c => Object.values(c.scales)).map(s => s.min)")
    check(min(lowest) >= 0, "an axis of what is positive begins at %s" % min(lowest))
    spread = page.value("chart.data.datasets.flatMap(d => d.data.map(p => p.y))")
    kind = page.value("chart.scales.y.type")
    check((kind == "logarithmic") == (max(spread) > 20 * min(spread)), "%s to %s on a %s axis" % (min(spread), max(spread), kind))
    bars = page.value("Object.values(Chart.instances).filter(c => c.config.type === 'bar').map(c => c.scales.y.ticks.map(t => "
                      "[].concat(t.label).join(' ').replace(/^\\d+ +/, '')))")
    check(bars and all(len(set(labels)) == len(labels) > 1 for labels in bars), "bars are called alike: %s" % bars)
    point = page.value("(() => { const p = chart.getDatasetMeta(0).data[0], r = chart.canvas.getBoundingClientRect(); "
                       "return [r.left + p.x, r.top + p.y] })()")
    page.move(5, 5)
    page.move(*point)
    page.value("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")
    shown = page.value("chart.tooltip.opacity === 1 ? chart.tooltip.title.join(' ') : ''")
    check(shown.startswith(("phantom tp ", "best: phantom tp ")), "hover shows \"%s\"" % shown)
    lines = page.value("[...document.querySelectorAll('figure[data-chart]')].filter(f => JSON.parse(f.dataset.chart).line > 0).length")
    check(lines == 2, "%d figures have the memory line" % lines)


def sliders_work(page):
    cost = "[...table.tBodies[0].rows].map(r => +r.cells[3].dataset.v)"
    drawn = "(() => { const f = document.querySelector('.costs figure canvas'); return f ? Chart.getChart(f).data.datasets[0].data.map(p => p.y) : [] })()"
    for name in "price", "amount":
        before, before_drawn = page.value(cost), page.value(drawn)
        slider = "document.querySelector('.costs input[name=%s]')" % name
        page.value(slider + ".focus(); null")
        page.key("End")
        after, after_drawn = page.value(cost), page.value(drawn)
        check(all(b > a > 0 for a, b in zip(before, after)), "slider %s: %s, then %s" % (name, before, after))
        check(len(before_drawn) == len(after_drawn) and all(b > a for a, b in zip(before_drawn, after_drawn)),
              "slider %s does not move the figure" % name)


def prints(page, name):
    page.call("Emulation.setEmulatedMedia", media="print")
    page.call("Emulation.setDeviceMetricsOverride", width=PAPER, height=980, deviceScaleFactor=1, mobile=False)
    wide = page.value("document.documentElement.scrollWidth")
    check(wide <= PAPER, "%s is cut off on paper: %d of %d pixels" % (name, wide, PAPER))
    pdf = page.pdf()
    check(pdf.startswith(b"%PDF") and len(pdf) > 20000, "%s does not print" % name)


def one_page(browser):
    search = ("search", "--cluster", "frontier", "--model", "ffn-16384", "--ranks", "8,16,32", "--vary", "method=tensor,phantom",
              "--vary", "ghost=2,4,6,16", "--objective", "energy")
    text = forerun(*search)
    check(forerun(*search, "--page", "search.html") == text, "--page changes what is printed")
    first = open("search.html").read()
    forerun(*search, "--page", "search.html", "-f")
    check(open("search.html").read() == first, "the same search makes another page")
    for width in WIDTHS:
        page = browser.open(address("search.html"), width)
        live = page.value("!!window.Chart")
        check(page.value("document.querySelector('h1').textContent").endswith("?"), "the page opens without a question")
        check(page.value("document.querySelectorAll('.answer p').length") == 4, "the answer is not a break-even and three sentences more")
        if width > 600:
            tables_work(page)
            if live:
                figures_live(page)
            sliders_work(page) if live else None
        is_whole(page, "search.html", width)
        if width > 600:
            prints(page, "search.html")
        page.close()
    return live


def all_kinds(browser, live):
    """One page of a result of every other kind."""
    h100 = "--cluster", "dgx-h100", "--model", "llama-3-8b"
    for name, words in (
            ("outcome", ("predict", *h100, "--set", "tp=8", "--set", "dp=8")),
            ("explain", ("predict", *h100, "--set", "tp=8", "--set", "dp=8", "--explain", "--tokens", "1T", "--price", "2 USD/h")),
            ("simulation", ("simulate", "--cluster", "a100-hdr", "--model", "gpt-2.5b", "--set", "tp=4", "--set", "pp=4")),
            ("collective", ("collective", "--cluster", "dgx-h100", "--op", "all_reduce", "--ranks", "64"))):
        open(name + ".json", "w").write(forerun(*words, "--json"))
    names = ["outcome.json", "explain.json", "simulation.json", "collective.json"]
    names += [os.path.join(FIXTURES, kind + ".json") for kind in ("validate", "score", "quality", "clusters")]
    forerun("report", *names, "-o", "kinds.html")
    for width in WIDTHS:
        page = browser.open(address("kinds.html"), width)
        tables, taken = page.value("(() => { const all = [...document.querySelectorAll('table.s')].filter(t => t.tBodies[0].rows.length > 1); "
                                   "return [all.length, all.filter(t => t.tHead.rows[0].cells[0].tabIndex === 0).length] })()")
        check(tables == taken and tables > 8, "%d of %d tables sort" % (taken, tables))
        figures, drawn = page.value("[document.querySelectorAll('figure[data-chart]').length, document.querySelectorAll('figure.drawn[data-chart]').length]")
        check(figures == drawn and (drawn > 8 or not live), "%d of %d figures are drawn" % (drawn, figures))
        is_whole(page, "kinds.html", width)
        if width > 600:
            prints(page, "kinds.html")
        page.close()


def main():
    os.chdir(tempfile.mkdtemp(prefix="forerun-pages-"))
    folder = os.getcwd()
    try:
        with Browser() as browser:
            names_stay_text(browser)
            live = one_page(browser)
            all_kinds(browser, live)
        print("pages work%s" % ("" if live else "; they have no live figures: Forerun was built without Chart.js"))
    except Missing as missing:
        print(missing)
        sys.exit(77)
    finally:
        os.chdir("/")
        subprocess.run(["rm", "-rf", folder])


main()
