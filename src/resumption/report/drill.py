"""What `resumption drill` prints: which effect fires twice, when, the story, and what to do about it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from rich.console import Console
from rich.text import Text

from resumption.contract.judges.stories import shown
from resumption.contract.verdicts import Finding, Label
from resumption.harness.drill.engine import Drilled
from resumption.harness.drill.findings import Breach, Found
from resumption.harness.drill.protocols import Action, Protocol
from resumption.report.text import hang, heading, mark
from resumption.worker.points import is_at_effect

__all__ = ["ADVICE", "advice", "describe", "print_drills", "stories"]

_INDENT = 4
_MOST_PROBLEMS = 3

_EFFECT = "Put the call behind @effect, with a key that names it in the world (docs/effects.md)"

ADVICE: dict[Breach, str] = {
    Breach.FIRES_AGAIN: f"{_EFFECT}; and guard the graph, so that a second delivery of an answer runs nothing "
    "(docs/guard.md). --guarded shows the difference.",
    Breach.LOST: "Something says that the effect is done before it is: record it when the call returned, not before; "
    "or leave that to @effect (docs/effects.md).",
    Breach.OTHER_STATE: "A node uses what dies with its process, or what a second run of it changes: keep all of it "
    "in the state.",
    Breach.INVALID_STATE: "Correct the node that writes it. A guarded graph refuses such a write before it is stored "
    "(docs/guard.md).",
    Breach.STUCK: "Look at the error: the program can't be run again from there.",
    Breach.SWALLOWED: "Something remembers the first answer, or its effect, by a key that a second answer shares: make "
    "the decision part of the key.",
    Breach.TAKEN: "Name the interrupt in each answer, Command(resume={id: value}), and ask once in a node, whose next "
    "question takes a repeated answer all the same; or give each delivery an id, which a guarded graph knows again "
    "(docs/guard.md).",
}
"""What to do about each kind of breach."""

_GUARDED_ADVICE = {
    Breach.FIRES_AGAIN: "Give @effect a key that names the effect in the world (docs/effects.md); --key drills it so. "
    "Without one the effect is named after its task, whose identity changes where a crash takes a checkpoint with it: "
    "with durability async, not with sync.",
}
"""What to do where a breach is left behind guard() and @effect, if that differs."""

_RESUMED = {
    "no-input": "invoke(None)",
    "checkpoint": "invoke(None) at the head's checkpoint id",
    "map": "the answer again, by the interrupt's id",
    "bare": "the answer again",
}

_TRIED = {
    Action.CRASH: "kill and resume",
    Action.HANDOVER: "handover",
    Action.REDELIVER: "repeated answer",
    Action.RACE: "race",
    Action.FORK: "second answer",
}


def print_drills(drills: Sequence[Drilled], console: Console, *, verbose: bool = False) -> None:
    """Print the drills of one program: as it is, and guarded if that was asked for."""
    _print_program(drills[0], console)
    for drilled in drills:
        if len(drills) > 1:
            heading(console, "With guard() and @effect" if drilled.way.guarded else "As it is")
        _print_drill(drilled, console, verbose=verbose)


def _print_program(drilled: Drilled, console: Console) -> None:
    request = drilled.request
    how = "by ainvoke" if drilled.way.asynchronous else "by invoke"
    console.print(
        Text.assemble(
            (request.target, "bold"), f" on langgraph {drilled.version}, run {how}, durability {request.durability}"
        ),
        soft_wrap=True,
    )
    for answered in drilled.twin.answered:
        asked = f" asks {shown(answered.gate.question)}" if answered.gate.identity else " is a breakpoint"
        text = f"{answered.gate.name}{asked}, and is answered {shown(answered.value)}"
        hang(console, Text(" gate"), text, indent=9)
    if not drilled.twin.answered:
        hang(console, Text(" gate"), "none: nothing asks", indent=9)
    for effect, count in sorted(drilled.twin.observed.effects.items()):
        often = "once" if count == 1 else f"{count} times"
        text = f"{effect.name} of {effect.task} fires {often} without faults, with {effect.arguments:.80}"
        hang(console, Text(" effect"), text, indent=9)
    what = "run for real" if request.real_effects else "are stubbed: nothing happened outside"
    hang(console, Text(""), f"effects {what}", indent=9)


def _print_drill(drilled: Drilled, console: Console, *, verbose: bool) -> None:
    if drilled.unsteady:
        title = Text(" ") + mark(console, Label.INCONCLUSIVE) + Text(" two runs without faults differ", style="bold")
        console.print(title)
        for reason in drilled.unsteady:
            hang(console, Text(" " * _INDENT), reason, indent=_INDENT)
        hang(
            console,
            Text(" " * _INDENT),
            "So nothing can be compared with them, and nothing else was tried. Fix the clock, the random numbers or "
            "the ids that the program makes, or what it keeps outside its state.",
            indent=_INDENT,
        )
        return
    groups: dict[tuple[Breach, str], list[tuple[Protocol | None, Found]]] = {}
    for found in drilled.in_twin:
        groups.setdefault((found.breach, found.subject), []).append((None, found))
    for outcome in drilled.outcomes:
        for found in outcome.found:
            groups.setdefault((found.breach, found.subject), []).append((outcome.protocol, found))
    for (breach, _), cases in groups.items():
        console.print()
        what_to_do = advice(breach, guarded=drilled.way.guarded)
        _print_group(cases, console, what_to_do=what_to_do, verbose=verbose)
    _print_tried(drilled, console, clean=not groups, verbose=verbose)


def advice(breach: Breach, *, guarded: bool) -> str:
    """What to do about a kind of breach, in a program as it is or behind `guard` and `@effect`."""
    return (_GUARDED_ADVICE if guarded else ADVICE).get(breach, ADVICE[breach])


def _print_group(
    cases: Sequence[tuple[Protocol | None, Found]], console: Console, *, what_to_do: str, verbose: bool
) -> None:
    documented = all(found.documented for _, found in cases)
    symbol = mark(console, Label.DIVERGENT if documented else Label.VIOLATES)
    title = Text(" ") + symbol + Text(" ")
    hang(console, title, Text(cases[0][1].finding.summary, style="bold"), indent=title.cell_len)
    # A kill right around an effect is the story that is told first: the one that is easiest to follow.
    cases = sorted(cases, key=lambda case: case[0] is not None and not is_at_effect(case[0].at))
    for where in _places([protocol for protocol, _ in cases if protocol is not None]):
        hang(console, Text(" " * _INDENT), where, indent=_INDENT + 2)
    for protocol, found in cases if verbose else cases[:1]:
        _print_story(protocol, found.finding, console)
    if documented:
        hang(console, Text(" " * _INDENT), "LangGraph documents this, so it fails no drill.", indent=_INDENT)
    hang(console, Text(" " * _INDENT), f"What to do: {what_to_do}", indent=_INDENT)


def _places(protocols: Sequence[Protocol]) -> list[str]:
    """Where it happened, the ways of resuming from one point together."""
    forms: dict[tuple[Action, str], dict[str, None]] = {}
    for protocol in protocols:
        forms.setdefault((protocol.action, protocol.at), {})[protocol.form.name] = None
    return [_place(action, _legible(at), list(names)) for (action, at), names in forms.items()]


def _legible(at: str) -> str:
    """A place without LangGraph's own names for what was sent to a node, and for what a function calls."""
    at = re.sub(r"~__pregel_push, ~__pregel_pull, ([^,]+), 0*(\d+), [^):]*", r"call \2 of \1", at)
    return re.sub(r"~__pregel_push, 0*(\d+), [^):]*", r"Send \1", at)


def _place(action: Action, at: str, forms: Sequence[str]) -> str:
    match action:
        case Action.CRASH:
            return f"killed at {at}, resumed by {'; '.join(_RESUMED[form] for form in forms)}"
        case Action.HANDOVER:
            return "each answer comes to a new process"
        case Action.REDELIVER:
            return f"the answer for {at} comes twice, one after the other ({', '.join(forms)})"
        case Action.RACE:
            return f"the answer for {at} comes twice at the same time, to two processes ({', '.join(forms)})"
        case Action.FORK:
            return f"a second answer for {at}, after the end ({', '.join(forms)})"


def describe(protocol: Protocol) -> str:
    """What a protocol does, in a phrase."""
    return _place(protocol.action, _legible(protocol.at), [protocol.form.name])


def _print_story(protocol: Protocol | None, finding: Finding, console: Console) -> None:
    told = describe(protocol) if protocol else "a run without faults"
    hang(console, Text(" " * _INDENT), f"The story of: {told}", indent=_INDENT)
    for step in finding.story:
        number = Text(" " * (_INDENT + 2)) + Text(f"#{step.number}", style="cyan")
        hang(console, number, step.text, indent=_INDENT + 8)


def _print_tried(drilled: Drilled, console: Console, *, clean: bool, verbose: bool) -> None:
    console.print()
    counts = Counter(outcome.protocol.action for outcome in drilled.outcomes)
    told = ", ".join(f"{_TRIED[action]} {counts[action]}" for action in Action if counts[action])
    problems = [outcome for outcome in drilled.outcomes if outcome.problem]
    whole = not problems and not drilled.left_out
    symbol = mark(console, Label.VIOLATES if not clean else Label.HOLDS if whole else Label.INCONCLUSIVE)
    failed = sum(any(not found.documented for found in outcome.found) for outcome in drilled.outcomes)
    title = Text(" ") + symbol + Text(" ")
    what = f"{len(drilled.outcomes)} protocols, {failed} of them with a finding ({told})"
    hang(console, title, what, indent=title.cell_len)
    doubts = sum(outcome.doubt for outcome in drilled.outcomes)
    if doubts:
        note = f"{doubts} runs stopped to ask an operator whether an effect fired (InDoubt): not one fired it twice"
        hang(console, Text("   "), note, indent=3)
    for outcome in problems if verbose else problems[:_MOST_PROBLEMS]:
        sign = Text(" ") + mark(console, Label.INCONCLUSIVE) + Text(" ")
        hang(console, sign, f"{outcome.protocol.name}: {outcome.problem}", indent=3)
    if len(problems) > _MOST_PROBLEMS and not verbose:
        hang(console, Text("   "), f"and {len(problems) - _MOST_PROBLEMS} more that tell nothing (-v)", indent=3)
    if drilled.left_out:
        sign = Text(" ") + mark(console, Label.INCONCLUSIVE) + Text(" ")
        note = f"{drilled.left_out} more protocols were left out: the time was up (--time; the order is that of --seed)"
        hang(console, sign, note, indent=3)
    for note in drilled.notes:
        hang(console, Text("   "), note, indent=3)


def stories(drilled: Drilled) -> list[str]:
    """Every distinct finding as plain text, with where it happened: what a failing test shows."""
    told: dict[tuple[Breach, str], str] = {}
    guarded = drilled.way.guarded
    for found in drilled.in_twin:
        what_to_do = advice(found.breach, guarded=guarded)
        told.setdefault((found.breach, found.subject), f"{found.finding}\n  What to do: {what_to_do}")
    for outcome in drilled.outcomes:
        for found in outcome.found:
            if not found.documented:
                what_to_do = advice(found.breach, guarded=guarded)
                text = f"{found.finding}\n  {describe(outcome.protocol)}\n  What to do: {what_to_do}"
                told.setdefault((found.breach, found.subject), text)
    return list(told.values())
