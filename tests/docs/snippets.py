"""What the documentation shows: its blocks of commands, and whether a command printed what a block says."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent
PAGES = tuple(
    page.relative_to(ROOT)
    for page in sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")])
    if not page.is_relative_to(ROOT / "docs" / "decisions")
)

_BLOCK = re.compile(
    r'^```(?P<language>\w*)(?: title="(?P<title>[^"\n]+)")?\n(?P<body>.*?)^```$', re.MULTILINE | re.DOTALL
)
_EXIT = re.compile(r"\(exit code (?P<code>\d+)\)")
_OMITTED = "…"


@dataclass(frozen=True, slots=True)
class Command:
    """A line that a reader types, and the lines that are shown below it."""

    line: str
    output: tuple[str, ...]

    @property
    def code(self) -> int:
        """The exit code that is shown, as a last line; 0 if none is."""
        shown = _EXIT.fullmatch(self.output[-1]) if self.output else None
        return int(shown["code"]) if shown else 0

    @property
    def printed(self) -> tuple[str, ...]:
        """The lines that the command prints itself."""
        return self.output[:-1] if self.code else self.output


@dataclass(frozen=True, slots=True)
class Block:
    """A fenced block of a page. One with a title is the content of a file called so."""

    body: str
    title: str = ""

    def commands(self) -> tuple[Command, ...]:
        """The commands of a `console` block, each with its output."""
        commands: list[Command] = []
        for line in self.body.splitlines():
            if line.startswith("$ "):
                commands.append(Command(line.removeprefix("$ "), ()))
            else:
                last = commands.pop()
                commands.append(Command(last.line, (*last.output, line.rstrip())))
        return tuple(commands)


def blocks(page: Path, language: str) -> Iterator[Block]:
    """The blocks of a page that are written in a language."""
    text = (ROOT / page).read_text(encoding="utf-8")
    return (
        Block(match["body"], match["title"] or "") for match in _BLOCK.finditer(text) if match["language"] == language
    )


def missing(shown: tuple[str, ...], printed: str) -> str:
    """The first line shown that was not printed in its place; empty if all were.

    A line that holds only `…` stands for any number of lines; all others must follow one another. Versions, numbers of
    events and the width of columns may differ.
    """
    lines = [_essence(line) for line in printed.splitlines()]
    at, anywhere = 0, False
    for line in shown:
        if line.strip() == _OMITTED:
            anywhere = True
            continue
        rest = lines[at:] if anywhere else lines[at : at + 1]
        if _essence(line) not in rest:
            return line
        at += rest.index(_essence(line)) + 1
        anywhere = False
    return ""


def _essence(line: str) -> str:
    """A line without what another release, or another run, may change in it."""
    return re.sub(r"#\d+", "#N", re.sub(r"\d+\.\d+\.\d+", "N.N.N", " ".join(line.split())))
