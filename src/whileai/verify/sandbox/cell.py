"""One job in one sandbox: start it, hand the job over, take the report, leave nothing behind."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from whileai.verify.sandbox import boot

FLAGS = ("-s", "-P", "-B", "-X", "utf8", "-X", "int_max_str_digits=0")
GRACE = 5.0
PRIVATE_USERS = 1_500_000_000
INNER = "/tmp/work"  # noqa: S108 - in a file system of the sandbox's own
TMPFS_BYTES = 256 * 2**20


@dataclass(frozen=True, slots=True)
class Job:
    """What is to be run, and within which limits.

    Attributes
    ----------
    reply : str
        The candidate's reply.
    tests : str or None
        The tests, ``None`` for a program with cases.
    inputs, outputs : tuple of str
        The program's cases.
    setup, entry_point, prompt : str or None
        Code before the candidate, the function HumanEval's check is for, the prompt a candidate may complete.
    cpu, wall : float
        Seconds of processor time, and on the clock.
    memory_mb : int
        Megabytes of address space.
    """

    reply: str
    tests: str | None
    inputs: tuple[str, ...] | None = None
    outputs: tuple[str, ...] | None = None
    setup: str = ""
    entry_point: str | None = None
    prompt: str | None = None
    cpu: float = 10.0
    wall: float = 15.0
    memory_mb: int = 512


class SandboxError(Exception):
    """The sandbox did not do its part; nothing is known about the candidate."""


def interpreter_folders() -> list[str]:
    """The folders Python needs to run: its own and the system's libraries."""
    wanted = [sys.base_prefix, sys.base_exec_prefix, sys.prefix, str(Path(sys.executable).resolve().parent)]
    wanted += [path for path in sys.path if Path(path).name in ("site-packages", "dist-packages")]
    # a chain of links to the interpreter is followed inside as well
    link = Path(sys.executable)
    for _ in range(8):
        if not link.is_symlink():
            break
        link = link.parent / link.readlink()
        wanted.append(str(link.parent))
    wanted += ["/usr", "/lib", "/lib64", "/lib32", "/bin", "/sbin", "/nix/store", "/gnu/store"]
    wanted += [f"/etc/{name}" for name in ("ld.so.cache", "ld.so.conf", "ld.so.conf.d", "localtime", "alternatives",
                                           "ssl/certs", "mime.types", "fonts", "magic")]  # fmt: skip
    kept: list[str] = []
    for path in sorted({os.path.normpath(path) for path in wanted if path}):
        inside = any(path == other or path.startswith(other.rstrip("/") + "/") for other in kept)
        if path not in ("/", "/root", "/home") and not inside and Path(path).exists():
            kept.append(path)
    return kept


def environment(work: str) -> dict[str, str]:
    """The candidate's whole environment: nothing of the caller's."""
    return {
        "PATH": "/usr/local/bin:/usr/bin:/bin",
        "HOME": work,
        "TMPDIR": work,
        "LANG": "C.UTF-8",
        "PYTHONHASHSEED": "0",
        # numeric libraries reserve memory for a thread a core, more than a candidate may have
        "OPENBLAS_NUM_THREADS": "1",
        "OMP_NUM_THREADS": "1",
        "MKL_NUM_THREADS": "1",
    }


def bubblewrap_command(program: str, folders: list[str], *, as_root: bool) -> list[str]:
    """The words before the interpreter that put it into namespaces of its own with only `folders` to read."""
    words = [program, "--unshare-ipc", "--unshare-pid", "--unshare-net", "--unshare-uts", "--unshare-cgroup-try"]
    words += ["--die-with-parent", "--new-session", "--proc", "/proc", "--dev", "/dev"]
    if as_root:
        for capability in ("SETUID", "SETGID", "SETPCAP", "KILL"):
            words += ["--cap-add", f"CAP_{capability}"]
    else:
        words += ["--unshare-user", "--disable-userns"]
    for folder in ("/tmp", "/dev/shm"):  # noqa: S108 - in a file system of the sandbox's own
        words += ["--perms", "1777", "--size", str(TMPFS_BYTES), "--tmpfs", folder]
    above = {str(parent) for folder in folders for parent in Path(folder).parents if str(parent) != "/"}
    for folder in sorted(above):  # else those above a folder of root's would be closed to others
        words += ["--perms", "0755", "--dir", folder]
    for folder in folders:
        path = Path(folder)
        words += ["--symlink", str(path.readlink()), folder] if path.is_symlink() else ["--ro-bind", folder, folder]
    return [*words, "--chdir", "/tmp"]  # noqa: S108


def reachable(folders: list[str]) -> bool:
    """Whether a user who owns nothing can get into the folders, those of the system aside."""
    for folder in folders:
        for path in (Path(folder), *Path(folder).resolve().parents):
            try:
                mode = path.stat().st_mode
            except OSError:
                return False
            if stat.S_ISDIR(mode) and not mode & stat.S_IXOTH:
                return False
    return True


def work_folder() -> str:
    """A new private folder, in the usual place for temporary files if an unprivileged user can get there."""
    places = [tempfile.gettempdir(), "/tmp", "/var/tmp"]  # noqa: S108 - mkdtemp makes a private folder in it
    for place in places:
        if os.geteuid() != 0 or reachable([place]):
            try:
                return tempfile.mkdtemp(prefix="whileai-", dir=place)
            except OSError:
                continue
    return tempfile.mkdtemp(prefix="whileai-")


def busy_processes() -> int:
    """How many threads and processes the user has: the limit counts them all where the user stays the same."""
    if os.geteuid() == 0:
        return 0
    count, user = 0, os.getuid()
    for entry in Path("/proc").glob("[0-9]*/task") if Path("/proc").exists() else ():
        with contextlib.suppress(OSError):
            if entry.stat().st_uid == user:
                count += sum(1 for _ in entry.iterdir())
    return count + 32


def run(
    job: Job,
    level: str,
    prefix: list[str],
    need: list[str],
    started: Callable[[int], None] | None = None,
    *,
    drop: bool = False,
) -> Any:
    """The report of the supervisor on `job`. Raises `SandboxError` where there is none.

    Parameters
    ----------
    level : str
        The level's name.
    prefix : list of str
        Words before the interpreter.
    need : list of str
        Parts of the isolation that must work.
    started : callable, optional
        Called with the process id once it runs, so that it can be ended from elsewhere.
    drop : bool
        Whether all of it, the words before the interpreter too, runs as the private user.
    """
    wrapped = level == "bubblewrap"
    folders = interpreter_folders()
    if not sys.executable:
        raise SandboxError("Python does not know its own interpreter (sys.executable is empty)")
    work = INNER if wrapped else work_folder()
    user = PRIVATE_USERS + int.from_bytes(os.urandom(4), "big") % 500_000_000
    try:
        cage = {
            "work": work,
            "user": user,
            "memory": job.memory_mb * 2**20,
            "cpu": job.cpu,
            "need": need,
            "read": folders,
            "busy": busy_processes(),
            "bubblewrap": wrapped,
            "reachable": wrapped or reachable(folders),
            "outside": 0 if wrapped else os.getpid(),
        }
        open_part = {
            "reply": job.reply,
            "setup": job.setup,
            "entry_point": job.entry_point,
            "prompt": job.prompt,
            "inputs": job.inputs,
            "wall": job.wall,
            "cage": cage,
        }
        parts = [boot.sized(boot.parcel()), boot.sized(json.dumps(open_part).encode())]
        parts.append(json.dumps(job.tests if job.inputs is None else job.outputs).encode())
        # as `interpreter_folders` writes it: a path like x/../bin/python leads through a folder that is not inside
        command = [*prefix, os.path.normpath(sys.executable), *FLAGS, "-c", boot.STARTER]
        return _talk(command, b"".join(parts), environment(work), job.wall + GRACE, user, started, drop=drop)
    finally:
        if not wrapped:
            remove(work)


def _talk(
    command: list[str],
    data: bytes,
    variables: dict[str, str],
    seconds: float,
    user: int,
    started: Callable[[int], None] | None,
    *,
    drop: bool,
) -> Any:
    other: dict[str, Any] = {"user": user, "group": user, "extra_groups": []} if drop else {}
    try:
        process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=variables,
            cwd="/",
            start_new_session=True,
            **other,
        )
    except (OSError, subprocess.SubprocessError) as error:
        raise SandboxError(f"cannot start {command[0]}: {error}") from error
    if started is not None:
        started(process.pid)
    try:
        out, err = process.communicate(data, timeout=seconds)
    except subprocess.TimeoutExpired:
        raise SandboxError("the sandbox did not answer in time") from None
    finally:
        if process.poll() is None:
            process.kill()
            process.communicate()
        if process.returncode != 0:
            sweep(user, variables["TMPDIR"])
    try:
        return json.loads(out)
    except ValueError:
        last = err.decode("utf-8", "replace").strip().rpartition("\n")[2][:300]
        raise SandboxError(f"the sandbox ended without a verdict (exit {process.returncode}) {last}".strip()) from None


def sweep(user: int, work: str) -> None:
    """Where a supervisor was ended from outside, end what it left: the private user's processes and those in `work`."""
    if work == INNER or not Path("/proc").exists():
        return
    for place in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            here = str((place / "cwd").readlink())
            if place.stat().st_uid == user or here == work or here.startswith(f"{work}/"):
                os.kill(int(place.name), signal.SIGKILL)


def remove(folder: str) -> None:
    """Remove a folder whatever its owner did to the permissions inside."""

    def allow(function: Any, path: str, _error: Any) -> None:
        with contextlib.suppress(OSError):
            Path(path).parent.chmod(0o700)
            if not Path(path).is_symlink():
                Path(path).chmod(0o700)
            function(path)

    shutil.rmtree(folder, onerror=allow)
    if Path(folder).exists():
        shutil.rmtree(folder, ignore_errors=True)


class Lane:
    """Runs side by side, except for those that ask to be alone."""

    def __init__(self) -> None:
        self._change = threading.Condition()
        self._running = 0
        self._waiting = 0

    @contextlib.contextmanager
    def shared(self) -> Any:
        """Run beside others, once nobody wants to be alone."""
        with self._change:
            while self._waiting or self._running < 0:
                self._change.wait()
            self._running += 1
        try:
            yield
        finally:
            with self._change:
                self._running -= 1
                self._change.notify_all()

    @contextlib.contextmanager
    def alone(self) -> Any:
        """Run with no other beside."""
        with self._change:
            self._waiting += 1
            while self._running:
                self._change.wait()
            self._waiting -= 1
            self._running = -1
        try:
            yield
        finally:
            with self._change:
                self._running = 0
                self._change.notify_all()
