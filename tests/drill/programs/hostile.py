"""Programs that do what programs do: print, fork, start threads, keep odd things, and call effects where none is expected."""

from __future__ import annotations

import functools
import multiprocessing
import os
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Annotated, Any

from langgraph.graph import START, StateGraph
from langgraph.types import interrupt
from typing_extensions import TypedDict

TRIPWIRE = Path(__file__).with_name("tripwire")
"""Is made if an effect is called for real."""


class State(TypedDict, total=False):
    done: Annotated[list[Any], lambda one, other: [*one, *other]]


def charge(*what: Any, **more: Any) -> None:
    """Charge."""
    TRIPWIRE.touch()


class Client:
    def charge(self, what: Any) -> None:
        """Charge."""
        TRIPWIRE.touch()

    def __call__(self, what: Any) -> None:
        """Charge."""
        TRIPWIRE.touch()

    @classmethod
    def by_class(cls, what: Any) -> None:
        """Charge."""
        TRIPWIRE.touch()

    @staticmethod
    def by_itself(what: Any) -> None:
        """Charge."""
        TRIPWIRE.touch()


client = Client()
charge_one = functools.partial(charge, 1)


def _graph(pay: Any) -> StateGraph[State]:
    builder = StateGraph(State)
    builder.add_node("pay", pay)
    builder.add_edge(START, "pay")
    return builder


def charging_factory() -> StateGraph[State]:
    """Calls an effect while it is made."""
    charge("made")
    return simple()


def simple() -> StateGraph[State]:
    def pay(state: State) -> State:
        charge(100, key="order-1")
        return {"done": ["paid"]}

    return _graph(pay)


def many_kinds() -> StateGraph[State]:
    """Calls effects in every way that Python has."""

    def pay(state: State) -> State:
        client.charge(1)
        client(2)
        Client.by_class(3)
        Client.by_itself(4)
        charge_one()
        return {"done": ["paid"]}

    return _graph(pay)


def noisy() -> StateGraph[State]:
    """Prints, runs a program, forks, and starts a thread that never ends."""

    def pay(state: State) -> State:
        print("x" * 100_000)
        sys.stderr.write("y" * 100_000)
        subprocess.run([sys.executable, "-c", "print('z' * 100000)"], check=True)
        child = multiprocessing.get_context("fork").Process(target=print, args=("forked",))
        child.start()
        child.join()
        threading.Thread(target=threading.Event().wait).start()
        charge(100)
        return {"done": ["paid"]}

    return _graph(pay)


class Opaque:
    """Says nothing of itself but where it lies."""


class Raising:
    def __repr__(self) -> str:
        raise RuntimeError("not to be looked at")


def opaque_arguments() -> StateGraph[State]:
    """Hands its effect what no JSON can say."""

    def pay(state: State) -> State:
        answer = interrupt("?")
        loop: list[Any] = []
        loop.append(loop)
        junk = [object() for _ in range(os.getpid() % 97)]
        charge(Opaque(), b"\xff\xfe", float("nan"), {1, "two", (3,)}, loop, more={(1, 2): len(junk) * 0}, key=answer)
        return {"done": ["paid"]}

    return _graph(pay)


def raising_argument() -> StateGraph[State]:
    def pay(state: State) -> State:
        charge(Raising(), key="k")
        return {"done": ["paid"]}

    return _graph(pay)


def shows_seconds() -> StateGraph[State]:
    """Keeps what a clock shows that has no hand for less than two seconds."""

    def pay(state: State) -> State:
        interrupt("?")
        charge(1, key="order-1")
        return {"done": [int(time.time() / 2)]}

    return _graph(pay)


def huge() -> StateGraph[State]:
    """Keeps a state of three megabytes."""

    def pay(state: State) -> State:
        interrupt("?")
        charge(1, key="order-1")
        return {"done": ["x" * 3_000_000]}

    return _graph(pay)


def pool_outlives() -> StateGraph[State]:
    """Has children that outlive it."""

    def pay(state: State) -> State:
        multiprocessing.get_context("fork").Process(target=time.sleep, args=(5,), daemon=True).start()
        charge(100, key="order-1")
        return {"done": ["paid"]}

    return _graph(pay)
