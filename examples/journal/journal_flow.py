"""A workflow framework in one file: steps run one after the other, and a journal of JSON lines remembers what they did.

A step that is in the journal isn't run again. A step may ask a question: the flow then stops until an answer is given.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

Step = Callable[[list[str], Callable[[str], Any]], list[str]]
"""Takes the state and a way to ask a question; returns what it appends to the state."""


class Stopped(Exception):
    """The flow waits for an answer to the question named."""


class Flow:
    """Steps by name, and the file that remembers them."""

    def __init__(self, journal: Path, steps: dict[str, Step]) -> None:
        self.journal = journal
        self.steps = steps

    def run(self) -> list[str]:
        """Run what isn't in the journal, and return the state. Raises `Stopped` at a question without an answer."""
        for name, step in self.steps.items():
            if name not in self._entries("step"):
                self.append("step", name, step(self.state(), self._ask))
        return self.state()

    def answer(self, question: str, value: Any) -> None:
        """Answer a question. Raises `ValueError` if it isn't open."""
        if question not in self.questions():
            raise ValueError(f"nobody waits for an answer to {question!r}")
        self.append("answer", question, value)

    def state(self) -> list[str]:
        """What the steps in the journal have appended."""
        return [entry for wrote in self._entries("step").values() for entry in wrote]

    def questions(self) -> list[str]:
        """The questions that were asked and not answered."""
        return [question for question in self._entries("question") if question not in self._entries("answer")]

    def append(self, kind: str, name: str, value: Any) -> None:
        """Write a line, and see it on the disk."""
        with self.journal.open("a") as file:
            file.write(json.dumps([kind, name, value]) + "\n")
            file.flush()
            os.fsync(file.fileno())

    def _ask(self, question: str) -> Any:
        answers = self._entries("answer")
        if question not in answers:
            if question not in self._entries("question"):
                self.append("question", question, None)
            raise Stopped(question)
        return answers[question]

    def _entries(self, kind: str) -> dict[str, Any]:
        """What the journal has of a kind, by name; the first line of a name counts."""
        entries: dict[str, Any] = {}
        for line in self.journal.read_text().splitlines() if self.journal.exists() else []:
            found, name, value = json.loads(line)
            if found == kind:
                entries.setdefault(name, value)
        return entries
