"""The page itself: its template, with the content of a view, its style and its script put in."""

from __future__ import annotations

import re
from functools import lru_cache
from importlib import resources

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

from resumption import __version__
from resumption.contract.properties import STATEMENTS
from resumption.harness.comparison import Comparison
from resumption.harness.races import Race
from resumption.report.html.blocks import content_security_policy
from resumption.report.html.content import Content, anchor
from resumption.report.lanes import Row
from resumption.report.legible import legible
from resumption.report.marks import MARKS
from resumption.report.view import View

__all__ = ["html_page"]

_PACKAGE = "resumption.report.html"
_CODE = re.compile("`([^`]+)`")


def html_page(view: View, *, comparison: Comparison | None = None, race: Race | None = None) -> str:
    """The receipt of a view as one self-contained page.

    It tells of a `comparison` with an earlier receipt, and of a `race`, if they are given. Everything that was recorded
    is text in it, never markup. Raises `ReceiptUnreadable` if a history can't be read.
    """
    style, script = _file("style.css"), _file("script.js")
    content = Content(view, comparison, race)
    return (
        _environment()
        .get_template("page.html.jinja")
        .render(
            page=content,
            histories=content.histories,
            policy=content_security_policy(style, script),
            style=Markup(style),
            script=Markup(script),
            version=__version__,
        )
    )


@lru_cache(maxsize=1)
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader(_PACKAGE, ""),
        autoescape=True,
        finalize=_finalized,
        undefined=StrictUndefined,
        trim_blocks=True,
    )
    environment.globals.update(
        alive=_alive, anchor=anchor, marks=MARKS, numbers=_numbers, statements=STATEMENTS, story_of=_is_told
    )
    environment.filters["coded"] = _coded
    return environment


def _coded(text: str) -> Markup:
    """The text escaped, with what stands between backticks set as code."""
    return Markup(_CODE.sub(r"<code>\1</code>", str(escape(text))))


def _finalized(value: object) -> object:
    """What the template puts in, legible where it is text that isn't markup of this package's own."""
    return legible(value) if isinstance(value, str) and not isinstance(value, Markup) else value


def _file(name: str) -> str:
    return resources.files(_PACKAGE).joinpath(name).read_text(encoding="utf-8")


def _numbers(row: Row) -> str:
    return f"{row.first}" if row.first == row.last else f"{row.first}–{row.last}"


def _is_told(row: Row, story: tuple[int, ...]) -> bool:
    return any(row.first <= number <= row.last for number in story)


def _alive(span: tuple[int, int], row: Row) -> bool:
    """Whether the process of a lane has done its first thing by a row, and not yet its last."""
    first, last = span
    return first <= row.first <= last
