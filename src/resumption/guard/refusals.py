"""What a caller gets instead of a second fire: the record's result, or an error that says what to do."""

from __future__ import annotations

import json
import shlex

from resumption.decide import admit as decide
from resumption.errors import EffectRunning, InDoubt, KeyReused, LedgerError, ResultAbsent, SchemaMismatch
from resumption.guard.codec import Unserialisable, decode
from resumption.guard.stores.protocol import Opening
from resumption.guard.stores.records import Record

__all__ = ["refusal", "served"]


def served(record: Record) -> object:
    """The recorded result. Raises `ResultAbsent` if this process can't read it back."""
    try:
        return decode(record.result or "")
    except Unserialisable as error:
        raise ResultAbsent(
            f"The effect {record.key!r} fired, but its recorded result can't be read back: {error}.",
            advice="Import the module that defines its type before the call.",
            key=record.key,
            branch=decide.SERVE,
        ) from error


def refusal(opened: Opening, address: str) -> LedgerError:
    """The error for a decision that neither fires nor serves; `address` is what `--store` of the commands takes."""
    key, branch = opened.record.key, opened.decision
    kind, what, advice = _WORDS.get(branch, _WORDS[decide.UNKNOWN_STATE])
    what = what.format(key=key, where=_where(opened.record))
    advice = advice.format(record=f"{shlex.quote(key)} --store {shlex.quote(address)}")
    return kind(what, advice=advice, key=key, branch=branch)


def _where(record: Record) -> str:
    place = json.loads(record.place)
    return f"process {place['pid']} on {place['host']}, begun {record.began}"


_RESOLVE = (
    "find out whether it fired, and say so: `resumption ledger resolve {record} --fired --result JSON`, "
    "or `--not-fired` instead."
)

_WORDS: dict[str, tuple[type[LedgerError], str, str]] = {
    decide.IN_DOUBT_ENDED: (
        InDoubt,
        "The effect {key!r} was begun ({where}), that attempt is over, and nobody recorded whether it fired.",
        f"It was not fired again. Give @effect a callable as on_doubt= that asks whether it fired; or {_RESOLVE}",
    ),
    decide.IN_DOUBT_UNPROVEN: (
        InDoubt,
        "The effect {key!r} was begun ({where}) and not settled, and its owner may still be alive.",
        'It was not fired again. If the provider deduplicates by current_key(), on_doubt="retry" with idempotent=True '
        f"may try again; or {_RESOLVE}",
    ),
    decide.KEY_REUSED: (
        KeyReused,
        "The key {key!r} belongs to a call with other arguments ({where}).",
        "Nothing was fired. If it is another effect, put what distinguishes it into the key; if another branch of a "
        'run shall fire its own, use scope="branch".',
    ),
    decide.WAIT: (
        EffectRunning,
        "The effect {key!r} is still running ({where}).",
        "Nothing was fired. Call again later: the record will be served.",
    ),
    decide.RESULT_ABSENT: (
        ResultAbsent,
        "The effect {key!r} fired ({where}), but its result was not kept: see `resumption ledger show`.",
        "It was not fired again. If an operator resolved it without --result, there is none to serve; otherwise "
        "return something smaller or serialisable, such as an identifier.",
    ),
    decide.UNKNOWN_STATE: (
        SchemaMismatch,
        "The record of {key!r} is in a state that this release doesn't know.",
        "Nothing was fired. Use the release that wrote it.",
    ),
}
