"""Answers that print well: documents as dictionaries and lists, with tables, pandas frames and figures.

Nothing here asks the library, but for figures.  A Result is a dictionary, and equal to one."""

import html as _html
import json as _json
import os as _os
import tempfile as _tempfile
from typing import Any, Dict, List, Optional, Union

__all__ = ["Result", "Rows", "Text", "Figure", "Value"]

Value = Union[str, int, float, bool, dict, list, tuple, range, "_os.PathLike[str]", None]
"""What an option takes: a text as on the command line, a number, a dictionary (of KEY=VALUE, or a document), several."""

# Of a document with several lists of rows, the one that is its table; elsewhere "rows", or the only list of rows.
_TABLES = {"search": "top", "simulation": "stages", "fit": "operations", "report": "checks", "emit": "plans",
           "place": "placements", "compare-plans": "plans", "outcome": None, "explain": None}
# Of rows that are whole outcomes, what a table shows before what differs.
_SHOWN = ("ranks", "iteration_time_s", "iteration_time_low_s", "iteration_time_high_s", "iteration_energy_J", "memory_B.peak", "mfu")
_FIGURES = {"outcome": "breakdown", "search": "energy-time", "clusters": "clusters", "fit": "fit", "score": "score",
            "validate": "validate", "quality": "quality"}
_ROWS_SHOWN, _COLUMNS_SHOWN, _WIDTH = 10, 10, 100


# ---- rows ------------------------------------------------------------------------------------------


def _flat(value: Dict[str, Any], before: str = "") -> Dict[str, Any]:
    """Members of members under "outer.inner"; lists stay as they are."""
    flat: Dict[str, Any] = {}
    for key, one in value.items():
        if isinstance(one, dict):
            flat.update(_flat(one, f"{before}{key}."))
        else:
            flat[before + key] = one
    return flat


def _are_rows(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(one, dict) for one in value)


def _kind(document: Dict[str, Any]) -> str:
    """"search" of "forerun/search/1"."""
    return str(document.get("schema", "")).partition("/")[2].partition("/")[0]


def _table_key(document: Dict[str, Any]) -> Optional[str]:
    named = _TABLES.get(_kind(document), "rows")
    if named is None or _are_rows(document.get(named)):
        return named
    return next((key for key, value in document.items() if _are_rows(value)), None)


def _same(values: List[Any]) -> bool:
    return all(value == values[0] for value in values)


def _columns(rows: List[Dict[str, Any]]) -> List[str]:
    """Those that a table has place for: of outcomes the main ones and what differs of their plans, else the first."""
    known: Dict[str, None] = {}
    for row in rows:
        known.update(dict.fromkeys(key for key, value in row.items()
                                   if value is not None and not isinstance(value, list) and key.rpartition(".")[2] != "schema"))
    inside = next((before for before in ("", "outcome.") if before + "iteration_time_s" in known), None)
    if inside is None:
        return list(known)[:_COLUMNS_SHOWN]
    names = [key for key in known if "." not in key] if inside else []
    differ = [key for key in known if key.startswith(inside + "plan.") and not _same([row.get(key) for row in rows])]
    return (names + [inside + key for key in _SHOWN if inside + key in known] + differ)[:_COLUMNS_SHOWN]


def _frame(rows: List[Dict[str, Any]]):
    try:
        import pandas  # pylint: disable=import-outside-toplevel
    except ImportError as why:
        raise ImportError("forerun: a frame needs pandas (Debian: python3-pandas); .rows has the same as a list of "
                          "dictionaries") from why
    return pandas.DataFrame(rows)


# ---- words -----------------------------------------------------------------------------------------


def _word(value: Any) -> str:
    """A value in a cell."""
    if value is None:
        return "-"
    if isinstance(value, float) or (isinstance(value, int) and abs(value) >= 10**12):
        return f"{value:.6g}"
    if isinstance(value, dict):
        return ", ".join(f"{key} {_word(one)}" for key, one in value.items() if one is not None and one != {})
    if _are_rows(value):
        return f"{len(value)} row{'' if len(value) == 1 else 's'}"
    if isinstance(value, list):
        return ", ".join(map(_word, value)) or "none"
    return str(value)


def _cut(text: str, width: int) -> str:
    return text if len(text) <= width else text[:width - 4] + " ..."


def _facts(document: Dict[str, Any], without: Optional[str]) -> List[List[str]]:
    """Name and value of each member that has one, but for the table."""
    return [[key, _word(value)] for key, value in document.items()
            if key not in ("schema", "provenance", "elapsed_s", without) and value is not None and value != [] and value != {}]


def _lines(facts: List[List[str]]) -> List[str]:
    wide = max((len(key) for key, _ in facts), default=0)
    return [_cut(f"{key:{wide}}  {value}", _WIDTH) for key, value in facts]


def _cells(rows: List[Dict[str, Any]]) -> List[List[str]]:
    columns = _columns(rows)
    return [columns] + [[_word(row.get(key)) for key in columns] for row in rows[:_ROWS_SHOWN]]


def _text_table(rows: List[Dict[str, Any]]) -> List[str]:
    cells = [[_cut(cell, 32) for cell in line] for line in _cells(rows)]
    wide = [max(len(line[i]) for line in cells) for i in range(len(cells[0]))]
    lines = ["  ".join(cell.rjust(wide[i]) for i, cell in enumerate(line)).rstrip() for line in cells]
    more = len(rows) - _ROWS_SHOWN
    return lines + ([f"... {more} more"] if more > 0 else [])


def _html_table(cells: List[List[str]], head: bool) -> str:
    def line(row: List[str], tag: str) -> str:
        return "<tr>" + "".join(f"<{tag}>{_html.escape(cell)}</{tag}>" for cell in row) + "</tr>"

    first = line(cells[0], "th") if head else ""
    return "<table>" + first + "".join(line(row, "td") for row in cells[head:]) + "</table>"


# ---- answers ---------------------------------------------------------------------------------------


class Rows(list):
    """An answer that is a list of documents: .rows, .to_frame()."""

    notes = ""

    @property
    def rows(self) -> List[Dict[str, Any]]:
        """Flat dictionaries, one a row."""
        return [_flat(one) for one in self]

    def to_frame(self):
        """The rows as a pandas DataFrame; ImportError where pandas is not installed."""
        return _frame(self.rows)

    frame = property(to_frame)

    def __repr__(self) -> str:
        return "\n".join(_text_table(self.rows)) if _are_rows(self) else super().__repr__()

    def _repr_html_(self) -> str:
        return _html_table(_cells(self.rows), True) if _are_rows(self) else _html.escape(super().__repr__())


class Result(dict):
    """The document of an answer, a dictionary that prints as a summary.

    rows        its table as a list of flat dictionaries: the plans of a search, the runs of a score; else itself, once
    to_frame()  the same as a pandas DataFrame; `frame` is short for it
    draw()      its figure, shown inline in a notebook
    notes       words beside the answer: what was assumed of an input, what was left out
    json()      the document as text, to keep in a file"""

    notes = ""
    _timeline = None  # of a simulation: a function that gives its trace

    @property
    def rows(self) -> List[Dict[str, Any]]:
        """Flat dictionaries, one a row."""
        key = _table_key(self)
        return [_flat(one) for one in self[key]] if key else [_flat(self)]

    def to_frame(self):
        """The rows as a pandas DataFrame; ImportError where pandas is not installed."""
        return _frame(self.rows)

    frame = property(to_frame)

    def json(self) -> str:
        """The document as text, which the verbs read again."""
        return _json.dumps(self, indent=2, ensure_ascii=False) + "\n"

    def draw(self, figure: Optional[str] = None, **options: Value) -> "Figure":
        """The figure of this answer as SVG (it needs gnuplot).

        figure   one of `forerun.list_("figures")`; None: breakdown of a prediction, energy-time of a search, the
                 timeline of a simulation
        options  of forerun.plot: width="84mm", title=..., output="picture.pdf" """
        from . import verbs  # pylint: disable=import-outside-toplevel

        figure = figure or ("gantt" if self._timeline else _FIGURES.get(_kind(self)))
        if figure is None:
            raise ValueError(f"forerun: no figure is usual for {_kind(self) or 'this answer'}; name one of "
                             "forerun.list_(\"figures\")")
        traced = figure == "gantt" and self._timeline is not None
        return verbs.plot(figure, self._timeline() if traced else self, **options)

    def __repr__(self) -> str:
        key = _table_key(self)
        lines = [f"forerun {_kind(self) or 'answer'}"] + _lines(_facts(self, key))
        return "\n".join(lines + ([""] + _text_table(self.rows) if key else []))

    def _repr_html_(self) -> str:
        key = _table_key(self)
        facts = [[name, _cut(value, _WIDTH)] for name, value in _facts(self, key)]
        tables = _html_table(facts, False) if facts else ""
        if key:
            tables += _html_table(_cells(self.rows), True)
        return tables + self._picture()

    def _picture(self) -> str:
        """The timeline of a simulation; "" where there is none, or no gnuplot."""
        from . import Error  # pylint: disable=import-outside-toplevel

        if self._timeline is None:
            return ""
        try:
            return self.draw().svg
        except Error:
            return ""

    def __reduce__(self):
        return Result, (dict(self),)


class Text(str):
    """An answer that is no document: a script, CSV, a table.  It prints as it is."""

    notes = ""
    document: Optional[Result] = None

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        return f"<pre>{_html.escape(str(self))}</pre>"


class Figure:
    """A picture as SVG, shown inline in a notebook; save() writes it."""

    def __init__(self, svg: str):
        self.svg = svg

    def save(self, path: "Union[str, _os.PathLike[str]]") -> None:
        """Write the SVG."""
        with open(path, "w", encoding="utf-8") as file:
            file.write(self.svg)

    def __repr__(self) -> str:
        return f"<forerun figure, {len(self.svg)} bytes of SVG>"

    def _repr_svg_(self) -> str:
        return self.svg

    def _repr_html_(self) -> str:
        return self.svg[max(self.svg.find("<svg"), 0):]


def answer(document: Any, text: str, notes: str) -> Union[Result, Rows, Text]:
    """What a function returns of a document, or where that is None of a text."""
    made: Union[Result, Rows, Text]
    if isinstance(document, dict):
        made = Result(document)
    elif isinstance(document, list):
        made = Rows(document)
    else:
        made = Text(text)
    made.notes = notes
    return made


class Files:
    """Documents that a command reads as files: written to a folder that goes with this."""

    def __init__(self):
        self._folder = _tempfile.TemporaryDirectory(prefix="forerun-")
        self._n = 0

    def path(self, name: str) -> str:
        """Of a file there."""
        return _os.path.join(self._folder.name, name)

    def put(self, document: Any) -> str:
        """The path of a dictionary or list; any other value is itself."""
        if not isinstance(document, (dict, list)):
            return document
        self._n += 1
        path = self.path(f"{self._n}.json")
        with open(path, "w", encoding="utf-8") as file:
            _json.dump(document, file)
        return path

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._folder.cleanup()
