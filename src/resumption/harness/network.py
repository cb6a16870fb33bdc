"""Hosts for racers: network namespaces of this machine, each joined to the harness by a pair of virtual interfaces.

A host reaches the database through a relay of its own, at the harness's end of its pair; it has no other route, so that
no traffic leaves the machine. A namespace lives as long as a process that does nothing in it, and that process as long
as the harness holds its standard input open: however the harness ends, nothing is left.
"""

from __future__ import annotations

import errno
import os
import shutil
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass
from ipaddress import IPv4Network

from resumption.errors import HostsUnavailable
from resumption.harness.relay import Relay

__all__ = ["Host", "Hosts", "hosts_reason_against"]

_TOOLS = ("ip", "nsenter", "unshare")
_NET = IPv4Network("198.18.0.0/15")  # set apart for tests of networks by RFC 2544: it collides with none in use
_MOST = 250
_PLACES = 4 * _MOST
"""How many hosts this machine has addresses for, those of other harnesses included."""


@dataclass(frozen=True, slots=True)
class Host:
    """One host: the path of its network namespace, and what a connection string needs to reach the server from it."""

    namespace: str
    route: str


class Hosts:
    """`count` hosts that reach the server at `target` with `latency` seconds one way. Use as a context manager.

    Raises `HostsUnavailable` if this machine doesn't allow them.
    """

    def __init__(self, count: int, target: tuple[str, int], latency: float = 0.0) -> None:
        if count > _MOST:
            raise HostsUnavailable(f"{count} hosts were asked for.", advice=f"Ask for {_MOST} at most.")
        self._count = count
        self._target = target
        self._latency = latency
        self._exit = ExitStack()
        self._relays: list[Relay] = []
        self._hosts: list[Host] = []

    def __enter__(self) -> Hosts:
        if reason := hosts_reason_against():
            raise HostsUnavailable(reason, advice="Run as root on Linux, or race processes instead.")
        try:
            for _ in range(self._count):
                self._add()
        except BaseException:
            self._exit.close()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self._exit.close()

    def host(self, number: int) -> Host:
        """The host of a racer, by its number from 0."""
        return self._hosts[number]

    def cut(self, number: int) -> AbstractContextManager[bool]:
        """Part a host from the server for a block, and heal the network at its end."""
        return self._relays[number].cut()

    def _add(self) -> None:
        place = self._exit.enter_context(_place())
        holder = self._exit.enter_context(_holder())
        self._exit.callback(holder.kill)
        namespace = f"/proc/{holder.pid}/ns/net"
        here, there = f"rsm{os.getpid()}h{place}"[-15:], f"rsm{os.getpid()}r{place}"[-15:]
        block = _NET.network_address + 4 * place
        ours, theirs = str(block + 1), str(block + 2)
        _run("ip", "link", "add", here, "type", "veth", "peer", "name", there, "netns", str(holder.pid))
        # The pair would go with the namespace, which the kernel takes down a while after its last process.
        self._exit.callback(_run, "ip", "link", "delete", here)
        _run("ip", "address", "add", f"{ours}/30", "dev", here)
        _run("ip", "link", "set", here, "up")
        inside = ("nsenter", f"--net={namespace}", "ip")
        _run(*inside, "address", "add", f"{theirs}/30", "dev", there)
        _run(*inside, "link", "set", there, "up")
        relay = self._exit.enter_context(Relay(ours, self._target, self._latency))
        self._relays.append(relay)
        self._hosts.append(Host(namespace, f"host={ours} port={relay.port}"))


@contextmanager
def _place() -> Iterator[int]:
    """A number that no other harness on this machine has meanwhile, to make addresses of.

    The name of a socket holds it: the kernel gives a name to one at a time, and takes it back however that one ends.
    """
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as holder:
        for place in range(_PLACES):
            try:
                holder.bind(f"\0resumption-host-{place}")
            except OSError as error:
                if error.errno != errno.EADDRINUSE:
                    raise
                continue
            yield place
            return
    raise HostsUnavailable("Every address for hosts is in use.", advice="Wait until other races on this machine end.")


def hosts_reason_against() -> str:
    """Why there can be no hosts on this machine; empty if there can."""
    if sys.platform != "linux":
        return "Network namespaces are a feature of Linux."
    missing = [tool for tool in _TOOLS if shutil.which(tool) is None]
    if missing:
        return f"{' and '.join(missing)} (of iproute2 and util-linux) isn't installed."
    tried = subprocess.run(["unshare", "--net", "true"], stdin=subprocess.DEVNULL, capture_output=True, check=False)
    return "" if tried.returncode == 0 else f"Namespaces aren't allowed here: {_said(tried.stderr)}."


def _holder() -> subprocess.Popen[bytes]:
    """Start a process in a network namespace of its own; it is there when this returns."""
    holder = subprocess.Popen(
        ["unshare", "--net", "sh", "-c", "echo ready; exec cat > /dev/null"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    if holder.stdout is None or holder.stdout.readline() != b"ready\n":
        raise HostsUnavailable("A network namespace can't be made.", advice="Race processes instead.")
    return holder


def _run(*command: str) -> None:
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, check=False)
    if done.returncode != 0:
        raise HostsUnavailable(
            f"`{' '.join(command)}` failed: {_said(done.stderr)}.", advice="Race processes instead of hosts."
        )


def _said(output: bytes) -> str:
    return output.decode(errors="replace").strip().rstrip(".")
