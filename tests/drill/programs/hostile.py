"""Programs that do what programs do: write, fork, start threads, hand odd things about, call effects when made."""

from __future__ import annotations

import functools
import multiprocessing
import os
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

from langgraph.graph import START, StateGraph
from langgraph.types import interrupt
from typing_extensions import TypedDict


class State(TypedDict, total=False):
    done: Annotated[list[Any], lambda one, other: [*one, *other]]
    file: str


def charge(*what: Any, **more: Any) -> None:
    """Charge."""
    raise AssertionError("a drill must not call it")


class Client:
    """A provider's client, with each kind of method."""

    def charge(self, what: int) -> None:
        """Charge."""
        raise AssertionError("a drill must not call it")

    def __call__(self, what: int) -> None:
        """Charge."""
        raise AssertionError("a drill must not call it")

    @classmethod
    def of_the_class(cls, what: int) -> None:
        """Charge."""
        raise AssertionError("a drill must not call it")

    @staticmethod
    def of_nothing(what: int) -> None:
        """Charge."""
        raise AssertionError("a drill must not call it")


client = Client()
charge_one = functools.partial(charge, 1)


def _graph(work: Callable[[State], Any]) -> StateGraph[State]:
    """A program that works, and then charges with a key that a provider would know again."""

    def pay(state: State) -> State:
        kept = work(state)
        charge(100, key="order-1")
        return {"done": [kept]}

    builder = StateGraph(State)
    builder.add_node("pay", pay)
    builder.add_edge(START, "pay")
    return builder


def simple() -> StateGraph[State]:
    """Asks, and charges."""
    return _graph(lambda _: interrupt("Charge?"))


def charging_factory() -> StateGraph[State]:
    """Calls an effect while it is made."""
    charge("made", key="order-0")
    return simple()


def every_kind() -> StateGraph[State]:
    """Calls effects in every way that Python has."""

    def work(state: State) -> str:
        client.charge(1)
        client(2)
        Client.of_the_class(3)
        client.of_nothing(4)
        charge_one(key="order-2")
        return "worked"

    return _graph(work)


def noisy() -> StateGraph[State]:
    """Writes to its output, runs a program, forks, and starts a thread that never ends."""

    def work(state: State) -> str:
        sys.stdout.write("x" * 100_000)
        sys.stderr.write("y" * 100_000)
        subprocess.run([sys.executable, "-c", "import sys; sys.stdout.write('z' * 100_000)"], check=True)
        child = multiprocessing.get_context("fork").Process(target=os.getpid)
        child.start()
        child.join()
        threading.Thread(target=threading.Event().wait).start()
        return "worked"

    return _graph(work)


def _wait_for(file: str) -> None:
    while not Path(file).exists():
        time.sleep(0.05)


def outlived() -> StateGraph[State]:
    """Has a child that lives until a file is made, however its parent ends."""

    def work(state: State) -> str:
        multiprocessing.get_context("fork").Process(target=_wait_for, args=(state["file"],)).start()
        return "worked"

    return _graph(work)


class Opaque:
    """Says nothing of itself but where it lies."""


class Unseen:
    """Can't be looked at."""

    def __repr__(self) -> str:
        raise RuntimeError("not to be looked at")


def opaque() -> StateGraph[State]:
    """Hands its effect what JSON can't say, and what comes out otherwise in each process."""

    def work(state: State) -> str:
        itself: list[Any] = []
        itself.append(itself)
        elsewhere = [Opaque() for _ in range(os.getpid() % 97)]
        charge(Opaque(), b"\xff\xfe", float("nan"), key="a", among={8, 0} if len(elsewhere) % 2 else {0, 8})
        charge(itself, key="b")
        charge(Unseen(), key="c")
        return "worked"

    return _graph(work)


def counts_its_runs() -> StateGraph[State]:
    """Comes out alike in its first two runs only, as what shows the minute does if the minute ends later."""

    def work(state: State) -> bool:
        with Path(state["file"]).open("a") as runs:
            runs.write("x")
        return Path(state["file"]).stat().st_size > 2

    return _graph(work)


def without_room() -> StateGraph[State]:
    """Is told, in every process but the first, that the disk is full."""

    def work(state: State) -> str:
        if Path("begun").exists():
            raise sqlite3.OperationalError("database or disk is full")
        Path("begun").touch()
        return "worked"

    return _graph(work)
