"""How the gates of a drilled program are answered, and what a second, other answer would be."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from resumption.errors import DecisionMissing
from resumption.history.events import Json, Pending

__all__ = ["YES", "Decisions"]

YES = "yes"
"""The word for an approval, in the form in which the gate expects it."""
_NO = "no"


@dataclass(frozen=True, slots=True, kw_only=True)
class Decisions:
    """`everywhere` answers each gate that `named` doesn't; `otherwise` holds the second answers, for forks.

    A gate is named by its node, `outer/inner` inside subgraphs; or with what tells it from its siblings, as `node#2`.
    """

    everywhere: Json = None
    named: dict[str, Json] = field(default_factory=dict)
    otherwise: dict[str, Json] = field(default_factory=dict)

    def answer(self, gate: Pending) -> Json:
        """The answer for a gate. Raises `DecisionMissing` if nobody said any."""
        value = self._of(self.named, gate, self.everywhere)
        if value is None and gate.identity:
            raise DecisionMissing(
                f"The gate {gate.name} asked {gate.question!r:.200}, and no decision was given.",
                advice=f"Add --decide {gate.name}=JSON, or --decide yes for all.",
            )
        return _in_the_gates_form(value, gate.question)

    def other(self, gate: Pending) -> Json:
        """Another answer for a gate; None if none is known."""
        if (value := self._of(self.otherwise, gate, None)) is not None:
            return value
        match self._of(self.named, gate, self.everywhere):
            case bool() as value:
                return not value
            case "yes":
                return _in_the_gates_form(_NO, gate.question)
        return None

    def strangers(self, gates: Iterable[Pending]) -> list[str]:
        """The names for which something was said, and that none of the gates has."""
        known = {name for gate in gates for name in _names(gate)}
        return [name for name in dict.fromkeys((*self.named, *self.otherwise)) if name not in known]

    def _of(self, answers: dict[str, Json], gate: Pending, otherwise: Json) -> Json:
        return next((answers[name] for name in _names(gate) if name in answers), otherwise)


def _names(gate: Pending) -> tuple[str, ...]:
    """By what a gate can be named, the most exact name first."""
    node = gate.name.partition("#")[0].partition("+")[0]
    return gate.name, node, node.rpartition("/")[2]


def _in_the_gates_form(value: Json, question: Json) -> Json:
    """`yes` and `no` for LangChain's human-in-the-loop middleware, which expects one decision for each tool call."""
    requests = question.get("action_requests") if isinstance(question, dict) else None
    if value not in (YES, _NO) or not isinstance(requests, list):
        return value
    return {"decisions": [{"type": "approve" if value == YES else "reject"} for _ in requests]}
