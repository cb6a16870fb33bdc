"""Owners that are paused, cut off, overtaken, or only look dead: no second fire, no commit over a successor."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Callable, Iterator
from pathlib import Path

import psycopg
import pytest

from resumption import Fired, Ledger, NotFired, effect
from resumption.decide import admit as decide
from resumption.errors import EffectRunning, InDoubt, LedgerUnavailable, Superseded
from resumption.guard import liveness, operators
from resumption.guard.liveness import OwnerLock
from resumption.guard.stores import postgres
from resumption.guard.stores.records import ALIVE, DEAD, UNPROVEN, Owner

from .pooler import pooled
from .support import Child, World, child, until


class Held:
    """An owner in a process of its own, held inside its effect until it is let go."""

    def __init__(self, url: str, world: World, folder: Path, **options: object) -> None:
        self._wait, self._go = os.pipe()
        self.report = folder / "report"

        def owner() -> None:
            os.close(self._go)

            @effect(Ledger(url, store_timeout=5.0), key="charge", **options)  # type: ignore[arg-type]  # per test
            def charge() -> str:
                world.fire("owner")
                os.read(self._wait, 1)
                return "owner's"

            try:
                self.report.write_text(str(charge()))
            except Superseded as refused:
                self.report.write_text(f"superseded with {refused.result}")

        self.process: Child = child(owner)
        os.close(self._wait)
        until(lambda: len(world.fired) == 1)

    def let_go(self) -> str:
        os.close(self._go)
        assert self.process.wait() == 0
        return self.report.read_text()

    def kill(self) -> None:
        self.process.kill()
        os.close(self._go)


Hold = Callable[..., Held]


@pytest.fixture
def hold(world: World, tmp_path: Path) -> Iterator[Hold]:
    """Makes held owners, and ends those that a failed test has left."""
    made: list[Held] = []

    def make(url: str, **options: object) -> Held:
        made.append(Held(url, world, tmp_path, **options))
        return made[-1]

    yield make
    for held in made:
        held.process.kill()


def elsewhere(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    """From here on this process is on another host, as far as locks can tell: PostgreSQL's lock file is another one."""
    (folder / "elsewhere").mkdir(exist_ok=True)
    monkeypatch.setattr("tempfile.tempdir", str(folder / "elsewhere"))


@pytest.mark.parametrize("policy", ["raise", "retry", "verify"])
def test_a_paused_owner_keeps_its_effect_and_commits_when_it_wakes(
    url: str, hold: Hold, world: World, tmp_path: Path, policy: str
) -> None:
    held = hold(url)
    held.process.signal(signal.SIGSTOP)
    held.process.stopped()
    on_doubt = (lambda: NotFired()) if policy == "verify" else policy
    rival = effect(Ledger(url, wait=0.2), key="charge", on_doubt=on_doubt)(lambda: world.fire("rival"))  # type: ignore[arg-type]  # per case
    with pytest.raises(EffectRunning):
        rival()
    held.process.signal(signal.SIGCONT)
    assert held.let_go() == "owner's"
    assert rival() == "owner's"
    assert world.fired == ["owner"]


def terminate_sessions(url: str) -> None:
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid()"
            " AND backend_type = 'client backend'"
        )


@pytest.mark.parametrize("policy", ["raise", "retry", "verify"])
def test_an_owner_cut_off_from_the_server_is_never_taken_for_dead(
    postgres_url: str, hold: Hold, world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, policy: str
) -> None:
    held = hold(postgres_url)
    elsewhere(monkeypatch, tmp_path)
    on_doubt = (lambda: NotFired()) if policy == "verify" else policy
    rival = effect(Ledger(postgres_url, wait=0.2), key="charge", on_doubt=on_doubt)(lambda: world.fire("rival"))  # type: ignore[arg-type]  # per case
    with pytest.raises(EffectRunning):
        rival()  # the session lock still proves its life to every host
    held.process.signal(signal.SIGSTOP)
    held.process.stopped()
    terminate_sessions(postgres_url)
    with pytest.raises(InDoubt) as caught:
        rival()
    assert caught.value.branch == decide.IN_DOUBT_UNPROVEN
    (seen,) = operators.listing(Ledger(postgres_url))
    assert seen.state == decide.UNPROVEN
    held.process.signal(signal.SIGCONT)
    assert held.let_go() == "owner's"  # its commit counts: nobody has taken the effect from it
    assert rival() == "owner's"
    assert world.fired == ["owner"]


def test_a_provider_that_deduplicates_may_overtake_a_zombie_which_never_commits_over_it(
    postgres_url: str, hold: Hold, world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    held = hold(postgres_url, on_doubt="retry", idempotent=True)
    elsewhere(monkeypatch, tmp_path)
    terminate_sessions(postgres_url)
    rival = effect(Ledger(postgres_url), key="charge", on_doubt="retry", idempotent=True)(lambda: "rival's")
    assert rival() == "rival's"
    assert held.let_go() == "superseded with owner's"
    assert rival() == "rival's"
    record = Ledger(postgres_url).get("charge")
    assert record is not None
    assert (record.result, record.attempt) == ('"rival\'s"', 2)
    assert decide.SUPERSEDED in [row.branch for row in operators.audit_trail(Ledger(postgres_url), "charge")]


def test_a_zombie_whose_effect_an_operator_settled_is_told_and_changes_nothing(
    postgres_url: str, hold: Hold, world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    held = hold(postgres_url)
    elsewhere(monkeypatch, tmp_path)
    terminate_sessions(postgres_url)
    operators.resolve(Ledger(postgres_url), "charge", fired=True, result='"told"', actor="ada")
    assert held.let_go() == "superseded with owner's"
    assert effect(Ledger(postgres_url), key="charge")(lambda: world.fire("rival"))() == "told"
    assert world.fired == ["owner"]


def test_a_session_that_the_server_still_holds_for_us_blocks_no_effect(postgres_url: str, world: World) -> None:
    """Half-open after a network failure: the server frees its lock hours later. Ours is taken as soon as it does."""
    ledger = Ledger(postgres_url, store_timeout=5.0)
    token = ledger.store.token()
    charge = effect(ledger, key=lambda number: f"charge:{number}")(lambda number: world.fire(str(number)))
    with psycopg.connect(postgres_url, autocommit=True) as half_open:
        half_open.execute("SELECT pg_advisory_lock(%s)", (token,))
        charge(1)
    with psycopg.connect(postgres_url, autocommit=True) as other:
        until(lambda: other.execute("SELECT pg_try_advisory_xact_lock_shared(%s)", (token,)).fetchone() == (True,))
        charge(2)
        assert other.execute("SELECT pg_try_advisory_xact_lock_shared(%s)", (token,)).fetchone() == (False,)
    assert world.fired == ["1", "2"]


def test_a_dead_owner_on_this_host_is_proven_dead_on_both_stores(url: str, hold: Hold, world: World) -> None:
    hold(url).kill()
    rival = effect(Ledger(url), key="charge", on_doubt=lambda: Fired("found"))(lambda: world.fire("rival"))
    assert rival() == "found"
    assert world.fired == ["owner"]


@pytest.mark.parametrize("policy", ["retry", "verify"])
def test_a_dead_owner_seen_from_elsewhere_stays_in_doubt(
    postgres_url: str, hold: Hold, world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, policy: str
) -> None:
    hold(postgres_url).kill()
    elsewhere(monkeypatch, tmp_path)
    on_doubt = (lambda: NotFired()) if policy == "verify" else policy
    with pytest.raises(InDoubt) as caught:
        effect(Ledger(postgres_url), key="charge", on_doubt=on_doubt)(lambda: world.fire("rival"))()  # type: ignore[arg-type]  # per case
    assert caught.value.branch == decide.IN_DOUBT_UNPROVEN
    assert world.fired == ["owner"]


@pytest.mark.parametrize("noticed", [True, False])
def test_a_dead_owner_that_came_by_a_pooler_is_not_taken_for_alive(
    database_url: str, hold: Hold, world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, noticed: bool
) -> None:
    """The pooler keeps its session, and would keep a lock in it: the control is a pooler that isn't noticed."""
    if not noticed:
        monkeypatch.setattr(postgres, "is_shared", lambda session, connect: False)
    with pooled(database_url, "transaction") as behind:
        hold(behind).kill()
        elsewhere(monkeypatch, tmp_path)
        with pytest.raises(InDoubt if noticed else EffectRunning):
            effect(Ledger(database_url, wait=0.0), key="charge")(lambda: world.fire("rival"))()
    assert world.fired == ["owner"]


def test_a_deleted_lock_file_proves_nothing(sqlite_url: str, hold: Hold, world: World, tmp_path: Path) -> None:
    held = hold(sqlite_url)
    lock_file = tmp_path / "effects.db-owners"
    lock_file.unlink()
    rival = effect(Ledger(sqlite_url), key="charge", on_doubt="retry")(lambda: world.fire("rival"))
    with pytest.raises(InDoubt):
        rival()
    lock_file.unlink()
    with pytest.raises(InDoubt):
        rival()
    assert held.let_go() == "owner's"
    assert world.fired == ["owner"]


def test_a_held_lock_is_life_whatever_the_boot_identity_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A container may have a boot identity of its own, on the same kernel."""
    holder = OwnerLock(tmp_path / "owners", beside_store=True)
    owner = holder.hold()
    monkeypatch.setattr(liveness, "boot_identity", lambda: "another container's")
    neighbour = OwnerLock(tmp_path / "owners", beside_store=True)
    assert neighbour.standing(owner) == ALIVE
    holder.release()
    assert neighbour.standing(owner) == DEAD


def a_dead_owner(path: Path, tmp_path: Path, *, beside_store: bool = True) -> Owner:
    note = tmp_path / "owner"

    def hold() -> None:
        owner = OwnerLock(path, beside_store=beside_store).hold()
        note.write_text(json.dumps([owner.token, owner.place]))

    assert child(hold).wait() == 0
    return Owner(*json.loads(note.read_text()))


def test_the_lock_tells_the_living_from_the_dead(tmp_path: Path) -> None:
    path = tmp_path / "owners"
    mine, other = OwnerLock(path, beside_store=True), OwnerLock(path, beside_store=True)
    assert other.standing(mine.hold()) == ALIVE
    assert other.standing(a_dead_owner(path, tmp_path)) == DEAD
    owner = mine.hold()
    mine.release()
    assert other.standing(owner) == DEAD
    assert mine.hold() != owner


def test_another_kernel_is_proof_only_beside_the_database(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "owners"
    owner = a_dead_owner(path, tmp_path)
    living = OwnerLock(path, beside_store=True)
    held = living.hold()
    monkeypatch.setattr(liveness, "boot_identity", lambda: "after a restart")
    assert OwnerLock(path, beside_store=True).standing(owner) == DEAD
    assert OwnerLock(path, beside_store=False).standing(held) == UNPROVEN


def test_a_copied_database_proves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    original = tmp_path / "owners"
    owner = a_dead_owner(original, tmp_path)
    copy = tmp_path / "copy"
    copy.write_bytes(original.read_bytes())
    assert OwnerLock(copy, beside_store=True).standing(owner) == UNPROVEN
    assert OwnerLock(tmp_path / "missing", beside_store=True).standing(owner) == UNPROVEN
    monkeypatch.setattr(liveness, "boot_identity", lambda: "on another machine")
    assert OwnerLock(copy, beside_store=True).standing(owner) == UNPROVEN


def test_a_shared_file_system_proves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    owner = a_dead_owner(tmp_path / "owners", tmp_path)
    monkeypatch.setattr(liveness, "is_local", lambda path: False)
    shared = OwnerLock(tmp_path / "owners", beside_store=True)
    assert shared.standing(owner) == UNPROVEN
    held = shared.hold()
    assert shared.hold() == held
    assert shared.standing(held) == UNPROVEN
    assert caplog.text.count("not on a local file system") == 1


def test_a_program_that_closes_its_proof_of_life_fires_nothing_more(
    sqlite_url: str, world: World, tmp_path: Path
) -> None:
    ledger = Ledger(sqlite_url)
    charge = effect(ledger, key=lambda order: f"charge:{order}")(world.fire)
    charge("before")
    os.close(descriptor_of(tmp_path / "effects.db-owners"))
    with pytest.raises(LedgerUnavailable, match="proof of life"):
        charge("after")
    assert world.fired == ["before"]


def descriptor_of(path: Path) -> int:
    """The descriptor by which this process has a file open."""
    for entry in Path("/proc/self/fd").iterdir():
        if entry.is_symlink() and os.readlink(entry) == str(path):
            return int(entry.name)
    raise AssertionError(f"{path} is not open")
