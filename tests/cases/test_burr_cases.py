"""Where Burr claims a decision: behind the effect, by a row's primary key. Measured in real processes."""

from __future__ import annotations

from resumption.harness.probes import PROBES
from resumption.harness.runner import run_suite
from resumption.history.events import EffectBegin, Raise, Return
from resumption.history.ndjson import decode_history
from resumption.planes.burr.spec import APPLICATION


def test_two_processes_that_race_both_fire_and_the_loser_is_told_behind_its_effect() -> None:
    race = [probe for probe in PROBES if probe.address == "consume/race-2-processes"]
    receipt = run_suite([APPLICATION], race, jobs=1)
    for text in receipt.histories.values():
        history = decode_history(text.encode())
        charged = [begin for begin in history.of(EffectBegin) if begin.effect == "charge"]
        lost, *locked_out = history.of(Raise)
        assert len(charged) == 2
        assert lost.error == "IntegrityError"
        assert [begin.process for begin in history.of(EffectBegin) if begin.effect == "b"] != [lost.process]
        # The loser's refused row leaves a transaction open; while it lasts, the winner's next row finds a locked file.
        assert [error.message for error in locked_out] in ([], ["database is locked"])
        assert len(list(history.of(Return))) + len(locked_out) == 1
