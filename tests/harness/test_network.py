"""Hosts reach a server through their relay and by no other way, late by its latency, and not at all while it is cut."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from resumption.errors import HostsUnavailable
from resumption.harness import network
from resumption.harness.network import Hosts, hosts_reason_against
from resumption.harness.relay import Relay

_PATIENCE = 10.0
_SHORT = 0.2

needs_hosts = pytest.mark.skipif(bool(hosts_reason_against()), reason=hosts_reason_against() or "there are hosts")


@pytest.fixture
def echo() -> Iterator[tuple[str, int]]:
    """A server that returns what it gets, one connection after the other."""
    with socket.create_server(("127.0.0.1", 0)) as server:

        def serve() -> None:
            while True:
                try:
                    connection, _ = server.accept()
                except OSError:
                    return
                threading.Thread(target=answer, args=(connection,), daemon=True).start()

        def answer(connection: socket.socket) -> None:
            with connection:
                while data := connection.recv(4096):
                    connection.sendall(data)

        threading.Thread(target=serve, daemon=True).start()
        yield server.getsockname()
        server.shutdown(socket.SHUT_RDWR)


def _exchange(connection: socket.socket, data: bytes) -> bytes:
    connection.sendall(data)
    got = b""
    while len(got) < len(data):
        got += connection.recv(65536)
    return got


def test_a_relay_carries_both_ways_and_any_length(echo: tuple[str, int]) -> None:
    with Relay("127.0.0.1", echo) as relay, socket.create_connection(("127.0.0.1", relay.port), _PATIENCE) as line:
        assert _exchange(line, b"ping") == b"ping"
        long = bytes(range(256)) * 2000
        sender = threading.Thread(target=line.sendall, args=(long,))
        sender.start()
        got = b""
        while len(got) < len(long):
            got += line.recv(65536)
        sender.join()
        assert got == long


def test_a_relay_is_late_by_its_latency_each_way(echo: tuple[str, int]) -> None:
    with (
        Relay("127.0.0.1", echo, latency=0.05) as relay,
        socket.create_connection(("127.0.0.1", relay.port), _PATIENCE) as line,
    ):
        before = time.monotonic()
        assert _exchange(line, b"ping") == b"ping"
        assert time.monotonic() - before >= 0.1


def test_a_cut_relay_holds_everything_back_and_loses_nothing(echo: tuple[str, int]) -> None:
    with Relay("127.0.0.1", echo) as relay, socket.create_connection(("127.0.0.1", relay.port), _PATIENCE) as line:
        assert _exchange(line, b"before") == b"before"
        with relay.cut():
            line.sendall(b"meanwhile")
            line.settimeout(_SHORT)
            with pytest.raises(TimeoutError):
                line.recv(64)
        line.settimeout(_PATIENCE)
        assert line.recv(64) == b"meanwhile"


def test_the_end_of_a_connection_is_carried_too(echo: tuple[str, int]) -> None:
    with Relay("127.0.0.1", echo) as relay, socket.create_connection(("127.0.0.1", relay.port), _PATIENCE) as line:
        line.shutdown(socket.SHUT_WR)
        assert line.recv(64) == b""


_CALL = """
import socket, sys
from pathlib import Path
from resumption.worker.namespace import join_namespace
join_namespace(Path(sys.argv[1]))
with socket.create_connection((sys.argv[2], int(sys.argv[3])), timeout=2) as line:
    line.sendall(b"from a host")
    print(line.recv(64).decode())
"""


def _call_from(namespace: str, address: str, port: int) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", _CALL, namespace, address, str(port)]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)


@needs_hosts
def test_a_host_reaches_the_server_through_its_relay_and_no_other_way(echo: tuple[str, int]) -> None:
    with Hosts(2, echo) as hosts:
        routes = [dict(part.split("=") for part in hosts.host(number).route.split()) for number in range(2)]
        first = hosts.host(0).namespace
        through = _call_from(first, routes[0]["host"], int(routes[0]["port"]))
        assert through.stdout == "from a host\n", through.stderr
        assert _call_from(first, *echo).returncode != 0
        assert _call_from(first, routes[1]["host"], int(routes[1]["port"])).returncode != 0


@needs_hosts
def test_nothing_of_the_hosts_is_left(echo: tuple[str, int]) -> None:
    with Hosts(1, echo) as hosts:
        namespace = Path(hosts.host(0).namespace)
        assert namespace.exists()
        assert _own_interfaces()
    assert not namespace.exists()
    assert not _own_interfaces()


def _own_interfaces() -> list[Path]:
    """The virtual interfaces of this process: other tests may have theirs at the same time."""
    return list(Path("/sys/class/net").glob(f"rsm{os.getpid()}h*"))


@needs_hosts
def test_hosts_of_two_harnesses_have_addresses_of_their_own(echo: tuple[str, int]) -> None:
    with Hosts(1, echo) as some, Hosts(1, echo) as others:
        for host in (some.host(0), others.host(0)):
            route = dict(part.split("=") for part in host.route.split())
            through = _call_from(host.namespace, route["host"], int(route["port"]))
            assert through.stdout == "from a host\n", through.stderr
        assert some.host(0).route.split()[0] != others.host(0).route.split()[0]


def test_a_machine_without_the_tools_says_which_are_missing(
    monkeypatch: pytest.MonkeyPatch, echo: tuple[str, int]
) -> None:
    monkeypatch.setattr(network, "_TOOLS", ("no-such-tool",))
    monkeypatch.setattr(network.sys, "platform", "linux")
    with pytest.raises(HostsUnavailable, match=r"no-such-tool .* isn't installed"), Hosts(1, echo):
        pytest.fail("there are hosts")
