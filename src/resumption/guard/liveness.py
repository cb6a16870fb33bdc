"""Proof that a process lives or has died, from what the operating system frees at its death.

Each process that owns effects holds one byte of a shared file, at an offset drawn at random (its token), by an *open
file description* lock: the kernel frees it when the last thread of the process is gone, whatever way it went, and
unlike a POSIX lock it excludes other openings of the file in the same process and survives an unrelated `close`.

A free byte proves death only where it means something: on the kernel that the owner ran on, in the very file (inode) it
locked. A file that was deleted and made anew, a copied database, another container's folder, another host: all of them
read as unproven. If the file lies beside the database on a local file system, a kernel that has been restarted since is
a proof too: nothing that ran under the old one is left.
"""

from __future__ import annotations

import errno
import json
import logging
import os
import platform
import struct
import sys
import threading
from pathlib import Path

from resumption.errors import LedgerUnavailable
from resumption.guard.stores.records import ALIVE, DEAD, UNPROVEN, Owner, Standing, fresh_token

if sys.platform == "linux":
    import fcntl

__all__ = ["OwnerLock"]

logger = logging.getLogger("resumption")

# File systems that one kernel has to itself. An unlisted one is taken for shared: then nothing is ever proven.
_LOCAL_FILE_SYSTEMS = frozenset(("bcachefs", "btrfs", "ext2", "ext3", "ext4", "f2fs", "overlay", "tmpfs", "xfs", "zfs"))


class OwnerLock:
    """This process's proof of life in one file, and the reader of everybody else's.

    `beside_store` says that the file lies next to the database it speaks of, so that it is the same file after a
    restart of the machine. Thread-safe; after a fork the child must call `forget`.
    """

    def __init__(self, path: Path, *, beside_store: bool) -> None:
        self._path = path
        self._beside_store = beside_store
        self._boot = boot_identity()
        self._guard = threading.Lock()
        self._owner: Owner | None = None
        self._held: int | None = None
        self._inode: list[int] | None = None

    def hold(self) -> Owner:
        """This process as an owner; takes the lock at the first call."""
        with self._guard:
            if self._held is not None and not leads_to(self._held, self._inode):
                raise LedgerUnavailable(
                    f"This program has closed the descriptor of {self._path}, its proof of life.",
                    advice="Open the ledger after closing inherited descriptors, not before.",
                )
            if self._owner is None:
                token = fresh_token()
                self._held, self._inode = self._lock(token)
                where = {"boot": self._boot, "inode": self._inode, "host": platform.node(), "pid": os.getpid()}
                self._owner = Owner(token, json.dumps(where))
            return self._owner

    def standing(self, owner: Owner) -> Standing:
        """What is proven about an owner of which the record gives token and place."""
        place = json.loads(owner.place)
        inode = place["inode"]
        if inode is None:
            return UNPROVEN
        with self._guard:
            descriptor = self._open_existing()
            if descriptor is None:
                return UNPROVEN
            try:
                if file_identity(descriptor)[1] != inode[1]:
                    return UNPROVEN
                restarted = place["boot"] != self._boot
                if restarted and not self._beside_store:
                    return UNPROVEN
                if not is_free(descriptor, owner.token):
                    return ALIVE  # whatever the boot identity: systemd-nspawn gives each container one of its own
                if restarted:
                    return DEAD
                return DEAD if file_identity(descriptor) == inode else UNPROVEN
            finally:
                os.close(descriptor)

    def release(self) -> None:
        """Give the byte back: from here on this process reads as dead, so nothing of it may still run."""
        with self._guard:
            if self._held is not None:
                os.close(self._held)
            self._owner = self._held = None

    def forget(self) -> None:
        """In a forked child: drop the parent's lock, or the parent's death would go unnoticed while the child lives."""
        self._guard = threading.Lock()
        if self._held is not None:
            os.close(self._held)
        self._owner = self._held = None

    def _lock(self, token: int) -> tuple[int | None, list[int] | None]:
        if sys.platform != "linux":
            logger.warning("This system has no open file description locks: an owner's death is never proven.")
            return None, None
        try:
            descriptor = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
        except PermissionError as error:
            logger.warning("%s can't be written: an owner's death is never proven.", error.filename)
            return None, None
        if not is_local(self._path):
            os.close(descriptor)
            logger.warning("%s is not on a local file system: an owner's death is never proven.", self._path)
            return None, None
        if not try_lock(descriptor, token):
            os.close(descriptor)
            raise RuntimeError(f"Byte {token} of {self._path} is locked already: two processes drew one token.")
        return descriptor, file_identity(descriptor)

    def _open_existing(self) -> int | None:
        if sys.platform != "linux" or not self._path.exists() or not is_local(self._path):
            return None
        try:
            return os.open(self._path, os.O_RDWR | os.O_CLOEXEC)
        except PermissionError:
            return None  # another user's: no proof for us


def boot_identity() -> str:
    """Names the running kernel instance; changes with each restart of the machine."""
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    except FileNotFoundError:
        return f"host:{platform.node()}"


def file_identity(descriptor: int) -> list[int]:
    """Device and inode. An inode that its owner holds open can't be given to another file."""
    status = os.fstat(descriptor)
    return [status.st_dev, status.st_ino]


def lock_request(offset: int) -> bytes:
    """An exclusive lock on one byte, as `struct flock`: type, whence, start, length, pid (0 for this kind of lock)."""
    return struct.pack("hhqqi4x", fcntl.F_WRLCK, os.SEEK_SET, offset, 1, 0)


def leads_to(descriptor: int, inode: list[int] | None) -> bool:
    """Whether a descriptor is still the one that was opened, not closed nor given to another file."""
    try:
        return file_identity(descriptor) == inode
    except OSError:
        return False


def try_lock(descriptor: int, offset: int) -> bool:
    """Lock one byte without waiting. False if another open file description holds it."""
    try:
        fcntl.fcntl(descriptor, fcntl.F_OFD_SETLK, lock_request(offset))
    except OSError as error:
        if error.errno in (errno.EAGAIN, errno.EACCES):
            return False
        raise
    return True


def is_free(descriptor: int, offset: int) -> bool:
    """Whether nobody holds this byte. Only looks: two who look at once don't see each other."""
    found = fcntl.fcntl(descriptor, fcntl.F_OFD_GETLK, lock_request(offset))
    kind: int = struct.unpack_from("h", found)[0]
    return kind == fcntl.F_UNLCK


def is_local(path: Path) -> bool:
    """Whether the file system under `path` belongs to this kernel alone, by its longest mount point."""
    folder = os.path.realpath(path.parent)
    best, kind = "", ""
    for line in Path("/proc/self/mountinfo").read_text().splitlines():
        left, _, right = line.partition(" - ")
        mount = left.split()[4].replace("\\040", " ")
        inside = folder == mount or folder.startswith(mount.rstrip("/") + "/")
        if inside and len(mount) >= len(best):
            best, kind = mount, right.split()[0]
    return kind in _LOCAL_FILE_SYSTEMS
