"""Lines of text for a terminal: wrapped with a hanging indent, and marked."""

from __future__ import annotations

import io
import re
import sys
from typing import TextIO, cast

from rich.console import Console
from rich.text import Text

from resumption.contract.verdicts import Label
from resumption.report.marks import MARKS

__all__ = ["WIDTH", "hang", "heading", "mark", "report_console"]

WIDTH = 100
"""The widest line of a report, on terminals that have room for it."""

_LEAST = 20  # columns that wrapped text gets, however narrow the terminal is


# Everything that moves a cursor or rewrites a line, but for the colours that a report uses itself.
_UNPRINTABLE = re.compile(r"\x1b(?!\[[0-9;]*m)|[\x00-\x08\x0b-\x1a\x1c-\x1f\x7f-\x9f]")


class _Legible(io.TextIOBase):
    """Standard output, for what receipts and frameworks say: without anything that a terminal would obey."""

    @property
    def encoding(self) -> str:  # type: ignore[override]  # a property there too, which typeshed calls an attribute
        return sys.stdout.encoding

    def isatty(self) -> bool:
        return sys.stdout.isatty()

    def fileno(self) -> int:
        return sys.stdout.fileno()

    def write(self, text: str) -> int:
        sys.stdout.write(_UNPRINTABLE.sub("\N{REPLACEMENT CHARACTER}", text))
        return len(text)

    def flush(self) -> None:
        sys.stdout.flush()


def report_console() -> Console:
    """The console that reports go to: standard output, no wider than a report's lines."""
    width = Console().width if sys.stdout.isatty() else WIDTH
    return Console(file=cast(TextIO, _Legible()), highlight=False, emoji=False, markup=False, width=min(width, WIDTH))


def mark(console: Console, label: Label) -> Text:
    """The symbol of a label in its colour, or its stand-in where the output's encoding can't carry the symbol."""
    chosen = MARKS[label]
    return Text(chosen.plain if console.options.ascii_only else chosen.symbol, style=chosen.style)


def heading(console: Console, text: str) -> None:
    """Print the title of a section, with a blank line before it."""
    console.print()
    hang(console, Text(), Text(text, style="bold"), indent=0)


def hang(console: Console, first: Text, text: Text | str, *, indent: int, style: str = "") -> None:
    """Print `first`, and beside it `text`, wrapped so that none of its lines stands left of the indent.

    A `first` that is wider than the indent has a line of its own.
    """
    text = Text(text, style=style) if isinstance(text, str) else text
    indent = min(indent, max(console.width - _LEAST, 0))
    lines = list(text.wrap(console, console.width - indent))
    lead = first.copy()
    if lines and lead.cell_len <= indent:
        lead.pad_right(indent - lead.cell_len)
        lead += lines.pop(0)
    if lead.plain.strip():
        lead.rstrip()
        console.print(lead, soft_wrap=True)
    for line in lines:
        line.rstrip()
        console.print(Text(" " * indent) + line, soft_wrap=True)
