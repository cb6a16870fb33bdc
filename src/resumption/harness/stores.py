"""Where the stores of trials are: in folders, or in databases of a PostgreSQL server that lives as long as the run."""

from __future__ import annotations

import shutil
import threading
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from resumption.errors import BackendMissing, PostgresMissing
from resumption.harness.durable import bytes_digest, content_digest
from resumption.harness.environments import Environment
from resumption.harness.postgres import ThrowawayPostgres
from resumption.harness.workspace import memory_folder
from resumption.planes.interface import Backend, PlaneSpec

if TYPE_CHECKING:
    from resumption.harness.databases import Content, Databases

__all__ = ["DatabaseStores", "Folders", "Kept", "Place", "PostgresServer", "Stores", "stores_for"]


@dataclass(frozen=True, slots=True)
class Place:
    """Where one store is: a folder, and on a server a database too, by its connection string."""

    folder: Path
    database: str = ""

    def connection(self, process: int) -> str:
        """The connection string of one process, by whose sessions it can be known; empty without a database."""
        return f"{self.database} application_name={_session(process)}" if self.database else ""


@dataclass(frozen=True, slots=True)
class Kept:
    """What a store held when it was kept: the files, and on a server the rows too."""

    folder: Path
    content: Content | None = None


Prepare = Callable[[Place], None]
"""Opens a run in an empty store and ends, so that the framework makes there what every store has."""


class Stores(Protocol):
    """Makes and removes the stores of one job's trials."""

    def make(self, folder: Path, prepare: Prepare) -> Place:
        """Make an empty store."""

    def copy(self, place: Place, folder: Path) -> Place:
        """Copy a store, in which nobody may be at work."""

    def keep(self, place: Place, folder: Path) -> Kept:
        """Keep what a store holds, in which nobody may be at work; files go into `folder`."""

    def refill(self, place: Place, kept: Kept) -> bool:
        """Give an empty store what was kept; whether nothing tells it from the one that was kept then."""

    def settle(self, place: Place, process: int) -> None:
        """Return when nothing more of a killed process becomes durable."""

    def content_digest(self, place: Place) -> str:
        """The digest of what is stored. Nobody may be at work."""

    def copy_digest(self, place: Place) -> str:
        """The digest of a fresh copy: two copies of one store have the same."""

    def remove(self, place: Place) -> None:
        """Remove what a store holds outside its folder."""


class Folders:
    """Stores of embedded backends: a folder each, which is removed with the trial's."""

    def make(self, folder: Path, prepare: Prepare) -> Place:
        """Make the folder; an embedded backend needs no preparation."""
        folder.mkdir(parents=True)
        return Place(folder)

    def copy(self, place: Place, folder: Path) -> Place:
        """Copy byte for byte."""
        shutil.copytree(place.folder, folder)
        return Place(folder)

    def keep(self, place: Place, folder: Path) -> Kept:
        """Copy byte for byte."""
        shutil.copytree(place.folder, folder)
        return Kept(folder)

    def refill(self, place: Place, kept: Kept) -> bool:
        """Copy byte for byte."""
        shutil.copytree(kept.folder, place.folder, dirs_exist_ok=True)
        return True

    def settle(self, place: Place, process: int) -> None:
        """What a process wrote to a file ends with the process."""

    def content_digest(self, place: Place) -> str:
        """The digest of the rows and files."""
        return content_digest(place.folder)

    def copy_digest(self, place: Place) -> str:
        """The digest of the bytes."""
        return bytes_digest(place.folder)

    def remove(self, place: Place) -> None:
        """A folder holds all there is."""


class DatabaseStores:
    """Stores of a server's backends: a database each. `key` names the environment whose framework prepares them."""

    def __init__(self, databases: Databases, key: str) -> None:
        self._databases = databases
        self._key = key
        self.address = databases.address
        """The host and port of the server."""

    def make(self, folder: Path, prepare: Prepare) -> Place:
        """Make a database, with the tables that the framework made in the first one."""
        folder.mkdir(parents=True)
        prepared = self._databases.prepared(self._key, lambda empty: prepare(Place(folder, empty)))
        return Place(folder, prepared)

    def copy(self, place: Place, folder: Path) -> Place:
        """Have the server copy the database."""
        folder.mkdir(parents=True)
        return Place(folder, self._databases.copy(place.database))

    def keep(self, place: Place, folder: Path) -> Kept:
        """Copy the files, and read the rows."""
        shutil.copytree(place.folder, folder)
        return Kept(folder, self._databases.content(place.database))

    def refill(self, place: Place, kept: Kept) -> bool:
        """Copy the files, and write the rows in the order in which they lay."""
        shutil.copytree(kept.folder, place.folder, dirs_exist_ok=True)
        return kept.content is not None and self._databases.fill(place.database, kept.content)

    def settle(self, place: Place, process: int) -> None:
        """Wait for the end of the process's sessions."""
        self._databases.settle(place.database, _session(process))

    def content_digest(self, place: Place) -> str:
        """The digest of the rows. Sessions of living processes may be open; those of killed ones were awaited."""
        return self._databases.content_digest(place.database)

    def copy_digest(self, place: Place) -> str:
        """The digest of the rows: a server's files are its own."""
        return self.content_digest(place)

    def remove(self, place: Place) -> None:
        """Give the database back, for another trial."""
        self._databases.give_back(place.database)


class PostgresServer:
    """The server of one run, started when it is first needed, by any thread. Closing it removes what was made there.

    `dsn` is a server that the user named; without one, a throwaway server is started.
    """

    def __init__(self, dsn: str = "") -> None:
        self._dsn = dsn
        self._exit = ExitStack()
        self._lock = threading.Lock()
        self._databases: Databases | None = None
        self._problem: PostgresMissing | None = None

    def databases(self) -> Databases:
        """Return the server's databases. Raises `PostgresMissing`, the second time without trying again."""
        with self._lock:
            if self._problem is not None:
                raise self._problem
            if self._databases is None:
                try:
                    self._databases = self._open()
                except PostgresMissing as error:
                    self._problem = error
                    raise
            return self._databases

    def close(self) -> None:
        """Remove the databases and the throwaway server. Harmless if nothing was started."""
        self._exit.close()

    def _open(self) -> Databases:
        try:
            # It needs psycopg, which an installation without a server can do without.
            from resumption.harness.databases import Databases
        except ImportError as error:
            raise PostgresMissing(
                f"The driver for PostgreSQL can't be imported: {error}.", advice="Install '.[postgres]'."
            ) from error
        if self._dsn:
            databases = Databases(self._dsn)
        else:
            databases = Databases(self._exit.enter_context(ThrowawayPostgres(memory_folder())).dsn)
        self._exit.callback(databases.close)
        return databases


def stores_for(spec: PlaneSpec, backend: Backend, environment: Environment, server: PostgresServer) -> Stores:
    """The stores of a plane on one backend, where its framework is installed.

    Raises `BackendMissing` if a distribution isn't installed there, `PostgresMissing` if there is no server.
    """
    missing = [name for name in backend.requires if name not in environment.pins]
    if missing:
        raise BackendMissing(
            f"{' and '.join(missing)} isn't installed beside {spec.package}.",
            advice=f"The backend {backend.name} needs it: install it, or name a release, as in {spec.name}@1.2.9.",
        )
    if not backend.server:
        return Folders()
    return DatabaseStores(server.databases(), f"{spec.name}@{environment.pins.get(spec.package, '')}")


def _session(process: int) -> str:
    return f"resumption-process-{process}"
