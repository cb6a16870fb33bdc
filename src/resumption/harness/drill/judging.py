"""Judges the histories of a drill against the run without faults: pure functions, as the contract's judges are.

Those compare a history with an abstract program in which each task runs once. A user's program loops and branches, so
what it should have done is taken from its twin: how often each effect fired with which arguments, and the final state.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from resumption.contract.judges.branches import MAIN
from resumption.contract.judges.operations import operation_of
from resumption.contract.judges.stories import finding
from resumption.contract.verdicts import Finding
from resumption.errors import InDoubt
from resumption.harness.drill.findings import Breach, Found
from resumption.harness.drill.observed import Effect, Observed, comparable, effect_of, observe
from resumption.harness.drill.protocols import Action, Protocol, Ran
from resumption.harness.drill.twin import Twin
from resumption.history.events import Crash, Deliver, Event, Exit, Intent, Persist, Phase, Raise, Recover
from resumption.history.history import Fire, History
from resumption.planes.drill.spec import BARE

__all__ = ["in_doubt", "judge_fork", "judge_run", "judge_twin"]

_FORKED = f"{MAIN}.1"


def judge_twin(twin: Twin) -> tuple[Found, ...]:
    """What is wrong without any fault: an invalid state, or an effect that fires with every pass of its gate's code."""
    found = list(_invalid(twin.history, twin.observed))
    seen: dict[tuple[Effect, str], Fire] = {}
    told: set[Effect] = set()
    for fire in twin.history.fires():
        if not fire.operation:
            if effect_of(fire) not in told:
                told.add(effect_of(fire))
                summary = f"{_named(effect_of(fire))} fires when the program is imported or made, so with every process"
                found.append(
                    Found(Breach.FIRES_AGAIN, subject(effect_of(fire)), finding(twin.history, summary, fire.begin))
                )
            continue
        effect, execution = effect_of(fire), (effect_of(fire), fire.value["execution"])
        first = seen.setdefault(execution, fire)
        if first.operation != fire.operation and effect not in told:
            told.add(effect)
            summary = (
                f"{_named(effect)} fires again with every answer, without any fault: it stands before an interrupt "
                "of its node, whose code runs again from its first line"
            )
            events = (first.begin, *_between(twin.history, first, fire), fire.begin)
            found.append(Found(Breach.FIRES_AGAIN, subject(effect), finding(twin.history, summary, *events)))
    return tuple(found)


def judge_run(history: History, protocol: Protocol, ran: Ran, twin: Twin, keys: Mapping[str, str]) -> tuple[Found, ...]:
    """What went otherwise than in the run without faults, for every protocol but a fork."""
    seen = observe(history, keys)
    found = list(_again(history, seen, twin.observed))
    if ran.stuck is not None:
        return (*found, *_stuck(history, ran, protocol))
    found += _lost(history, seen, twin.observed)
    found += _invalid(history, seen)
    if not seen.invalid and comparable(seen.values) != comparable(twin.observed.values):
        found.append(_other_state(history, seen, twin.observed))
    if protocol.action is Action.REDELIVER and not set(ran.before) <= set(ran.after):
        found.append(_taken(history, protocol))
    return tuple(found)


def judge_fork(history: History, ran: Ran, alternative: Twin, place: int, keys: Mapping[str, str]) -> tuple[Found, ...]:
    """Whether a second answer had the outcome that it has where it is the only one."""
    deliver = next(event for event in history.of(Deliver) if event.intent is Intent.FORK)
    if ran.stuck is not None:
        summary = f"the second answer for `{deliver.target}` can't be brought to its end: {ran.stuck.reason}"
        return (Found(Breach.STUCK, deliver.target, finding(history, summary, deliver, *_last(history, Raise))),)
    seen = observe(history, keys, branch=_FORKED)
    expected = alternative.after(place, keys)
    found = [
        Found(
            Breach.SWALLOWED,
            deliver.target,
            finding(
                history,
                f"{_named(effect)} never fired for the second answer for `{deliver.target}`, and fires where that "
                "answer is the only one",
                *_fires_of(history, effect),
                deliver,
                seen.state,
            ),
        )
        for effect in sorted(expected.effects - seen.effects)
    ]
    if comparable(seen.values) != comparable(alternative.observed.values):
        summary = (
            f"the second answer for `{deliver.target}` ended in another state than where it is the only one: "
            f"{_difference(alternative.observed, seen)}"
        )
        first = next(event for event in history.of(Deliver) if event.target == deliver.target)
        found.append(Found(Breach.SWALLOWED, deliver.target, finding(history, summary, first, deliver, seen.state)))
    found += _again(history, seen, alternative.observed)
    return tuple(found)


def in_doubt(ran: Ran) -> bool:
    """Whether a run stopped to ask an operator whether an effect fired: what a ledger does, and no failure of it."""
    return ran.stuck is not None and ran.stuck.reason.startswith(InDoubt.__name__)


def subject(effect: Effect) -> str:
    """An effect and its node, as findings are sorted by them."""
    return f"{effect.name} in {effect.task}"


# Each kind of breach --------------------------------------------------------------------------------------------------


def _again(history: History, seen: Observed, expected: Observed) -> Iterator[Found]:
    for effect in sorted(seen.effects - expected.effects):
        should, did = expected.effects[effect], seen.effects[effect]
        fires = _fires_of(history, effect)
        if not should:
            summary = f"{_named(effect)} fired, which it does in no run without faults"
            yield Found(Breach.FIRES_AGAIN, subject(effect), _told(history, summary, fires[-1:], ()))
            continue
        usual = "once" if should == 1 else f"{should} times"
        summary = f"{_named(effect)} fired {did} times; without faults, {usual}"
        yield Found(Breach.FIRES_AGAIN, subject(effect), _told(history, summary, fires[:1], fires[should:]))


def _told(history: History, summary: str, before: list[int], again: list[int] | tuple[()]) -> Finding:
    """The story of an effect: its first fire, what came between, and its last one."""
    fires = {fire.begin: fire for fire in history.fires()}
    last = fires[again[-1]] if again else fires[before[0]]
    first = fires[before[0]] if again else None
    between = _between(history, first, last)
    return finding(history, summary, *before, *between, last.begin)


def _between(history: History, first: Fire | None, last: Fire) -> list[Event | None]:
    """The request behind each fire, the record of the first if there was one, and the death of its process."""
    events: list[Event | None] = [operation_of(history, last.operation)]
    if first is None:
        return [*events, *_last(history, Crash)]
    events.append(operation_of(history, first.operation))
    stored = (e for e in history.of(Persist) if e.phase is Phase.END and first.task in e.covers)
    events += [next((e for e in stored if first.end < e.number < last.begin), None)]
    events += [e for e in history.events if isinstance(e, Crash | Recover) and first.begin < e.number < last.begin]
    events += [e for e in history.of(Exit) if e.who == first.process and e.signal and e.number < last.begin]
    return events


def _lost(history: History, seen: Observed, expected: Observed) -> Iterator[Found]:
    for effect in sorted(expected.effects - seen.effects):
        summary = f"the run reads as finished, and {_named(effect)} never fired"
        if seen.effects[effect]:
            summary = f"the run reads as finished, and {_named(effect)} fired {seen.effects[effect]} of "
            summary += f"{expected.effects[effect]} times"
        told = [*history.of(Crash), *_resumes(history), *_fires_of(history, effect), seen.state]
        yield Found(Breach.LOST, subject(effect), finding(history, summary, *told))


def _invalid(history: History, seen: Observed) -> Iterator[Found]:
    for reason in seen.invalid:
        summary = f"a state was stored that the program's own schema excludes: {reason}"
        channel = reason.split("'")[1]
        yield Found(Breach.INVALID_STATE, channel, finding(history, summary, seen.state, silent_corruption=True))


def _other_state(history: History, seen: Observed, expected: Observed) -> Found:
    summary = f"the run ended in another state than without faults: {_difference(expected, seen)}"
    told = [*history.of(Crash), *_resumes(history), seen.state]
    return Found(Breach.OTHER_STATE, "final state", finding(history, summary, *told))


def _stuck(history: History, ran: Ran, protocol: Protocol) -> Iterator[Found]:
    if ran.stuck is not None and not in_doubt(ran):
        summary = f"the run can't be brought to its end: {ran.stuck.reason}"
        told = [*history.of(Crash), *_resumes(history), *_last(history, Raise)]
        yield Found(Breach.STUCK, protocol.gate or "run", finding(history, summary, *told))


def _taken(history: History, protocol: Protocol) -> Found:
    repeated = next(event for event in history.of(Deliver) if event.intent is Intent.RETRY)
    summary = f"the repeated answer for `{protocol.gate}` was taken by the gate that was waiting next"
    answers = [event for event in history.of(Deliver) if event.delivery == repeated.delivery]
    ended = [event for event in history.events if event.operation == repeated.operation][-1]
    documented = protocol.form == BARE
    return Found(Breach.TAKEN, protocol.gate, finding(history, summary, *answers, ended), documented)


def _resumes(history: History) -> list[Event]:
    """What was asked for from the second process on."""
    return [event for event in history.of(Recover) if event.process > 1] + [
        event for event in history.of(Deliver) if event.process > 1
    ]


def _last(history: History, kind: type[Event]) -> list[Event]:
    return list(history.of(kind))[-1:]


def _fires_of(history: History, effect: Effect) -> list[int]:
    return [fire.begin for fire in history.fires() if effect_of(fire) == effect]


def _named(effect: Effect) -> str:
    arguments = effect.arguments if len(effect.arguments) <= 60 else f"{effect.arguments[:59]}…"
    return f"effect `{effect.name}` of `{effect.task}` with {arguments}"


def _difference(expected: Observed, seen: Observed) -> str:
    """The first channels that differ, and how."""
    want, have = expected.values or {}, seen.values or {}
    keys = [key for key in dict.fromkeys((*want, *have)) if comparable(want.get(key)) != comparable(have.get(key))]
    shown = [f"`{key}` is {comparable(have.get(key)):.80} and not {comparable(want.get(key)):.80}" for key in keys[:2]]
    return ", ".join(shown)
