"""The limits a candidate's process puts on itself before it runs a line of the candidate. Runs inside the sandbox.

The order matters: first what needs privileges (limits of the system, another user), last what takes rights away.
"""

from __future__ import annotations

import contextlib
import os
import resource
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

NOBODY = 65534
PROCESSES = 64
FILE_BYTES = 128 * 2**20
DEVICES = ["/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom"]
SYSTEM_FACTS = ["/proc/cpuinfo", "/proc/meminfo", "/proc/stat", "/proc/loadavg", "/proc/uptime"]


def confine(spec: dict[str, Any], supervisor: int) -> list[str]:
    """Confine this process as the level asks; what is on, in words. Raises `OSError` where a part it needs fails.

    Parameters
    ----------
    spec : dict
        ``work`` folder, ``memory`` bytes, ``cpu`` seconds, ``need`` (parts that must work), ``read`` (folders),
        ``user`` (an id nobody else has), ``reachable`` (whether it can read the interpreter), ``busy`` (processes the
        user has already), ``bubblewrap`` (whether the file system is a private one), ``outside`` (the caller's id).
    """
    os.chdir(spec["work"])
    os.umask(0o022)
    _limits(spec)
    on = ["limits"]
    if sys.platform != "linux":
        _audit(spec, [supervisor, spec["outside"]])
        return [*on, "audit"]
    from whileai.verify.sandbox import kernel

    if "network" in spec["need"]:
        on += _own_network(kernel)
    if os.geteuid() == 0:
        on += _other_user(kernel, spec)
    kernel.prctl(kernel.PR_SET_NO_NEW_PRIVS, 1)
    read = ["/"] if spec["bubblewrap"] else [*spec["read"], *DEVICES, *SYSTEM_FACTS, f"/proc/{os.getpid()}"]
    write = [spec["work"], "/dev/shm"] if spec["bubblewrap"] else [spec["work"]]  # noqa: S108 - a private one
    parent = spec["outside"] or supervisor
    untouchable = [supervisor, -supervisor, parent, -parent]
    actions: dict[str, Callable[[], None]] = {
        "landlock": lambda: kernel.landlock(read, write, DEVICES),
        "seccomp": lambda: kernel.seccomp(untouchable),
    }
    for part, action in actions.items():
        if part == "landlock" and not (spec["bubblewrap"] or part in spec["need"]):
            continue
        try:
            action()
            on.append(part)
        except OSError:
            if part in spec["need"]:
                raise
    if "landlock" not in on and not spec["bubblewrap"]:
        _audit(spec, untouchable)
        on.append("audit")
    kernel.prctl(kernel.PR_SET_DUMPABLE, 1)
    return on


def most_files() -> int:
    """How many files this process may have open at once, 1024 where there is no limit."""
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    return 1024 if most == resource.RLIM_INFINITY else most


def _limits(spec: dict[str, Any]) -> None:
    """Memory, processor time, processes, files: never above what the process was given itself."""
    seconds = max(1, -int(-spec["cpu"] // 1))
    wanted = [
        ("RLIMIT_CORE", 0, 0),
        ("RLIMIT_AS", spec["memory"], spec["memory"]),
        ("RLIMIT_CPU", seconds, seconds + 1),
        ("RLIMIT_FSIZE", FILE_BYTES, FILE_BYTES),
        ("RLIMIT_NOFILE", 256, 256),
        ("RLIMIT_NPROC", PROCESSES + spec["busy"], PROCESSES + spec["busy"]),
    ]
    for name, soft, hard in wanted:
        kind = getattr(resource, name, None)
        if kind is None:
            continue
        most = resource.getrlimit(kind)[1]
        if most != resource.RLIM_INFINITY:
            soft, hard = min(soft, most), min(hard, most)  # noqa: PLW2901 - a system's own limit may be lower
        try:
            resource.setrlimit(kind, (soft, hard))
        except (OSError, ValueError):
            if name == "RLIMIT_AS" and sys.platform == "linux":
                raise


def _own_network(kernel: Any) -> list[str]:
    """A network of its own with nothing on it, where the process may ask for one."""
    try:
        kernel.call("unshare", kernel.CLONE_NEWNET)
    except OSError:
        return []
    return ["network"]


def _other_user(kernel: Any, spec: dict[str, Any]) -> list[str]:
    """Become a user who owns nothing; one who may only read more if the interpreter is out of reach otherwise."""
    keep = 0 if spec["reachable"] else 1 << kernel.CAP_DAC_READ_SEARCH
    if keep and not kernel.may_have(kernel.CAP_DAC_READ_SEARCH):
        if "landlock" not in spec["need"]:
            raise OSError(kernel.EPERM, "the interpreter is out of reach for an unprivileged user")
        os.chown(spec["work"], 0, 0)
        kernel.set_capabilities(0)  # still the owner of root's files, which Landlock then guards alone
        return []
    if keep:
        kernel.prctl(kernel.PR_SET_KEEPCAPS, 1)
    kernel.drop_bounding_set(keep)
    for user in (spec["user"], NOBODY):
        try:
            with contextlib.suppress(OSError):  # a user namespace may refuse it, and then there are none to drop
                os.setgroups([])
            os.setresgid(user, user, user)
            os.setresuid(user, user, user)
        except OSError:
            continue
        if keep:
            kernel.set_capabilities(keep)
            kernel.prctl(kernel.PR_CAP_AMBIENT, 2, kernel.CAP_DAC_READ_SEARCH)
        return ["user"]
    kernel.set_capabilities(0)
    return []


# --- where the kernel offers nothing ---------------------------------------------------------------------------------

_CHANGES = {
    "os.remove", "os.rename", "os.mkdir", "os.rmdir", "os.chmod", "os.chown", "os.link", "os.symlink", "os.truncate",
    "os.utime", "os.setxattr", "shutil.rmtree", "shutil.move",
}  # fmt: skip
_NETWORK = {"socket.__new__", "socket.connect", "socket.bind", "socket.sendto", "socket.sendmsg", "socket.getaddrinfo"}


def _audit(spec: dict[str, Any], untouchable: list[int]) -> None:
    """Refuse network, signals upwards and changes outside the folder to Python code: the last resort, and no wall."""
    work = os.path.realpath(spec["work"])
    refuse = PermissionError

    def inside(path: Any) -> bool:
        if isinstance(path, int):
            return True
        real = os.path.realpath(os.fsdecode(path))
        return real == work or real.startswith(work + os.sep) or real in DEVICES

    def hook(event: str, given: tuple[Any, ...]) -> None:
        if event == "open":
            path, mode, flags = given
            if isinstance(path, int):
                return
            writes = flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND)
            if (writes or (mode and set(mode) & set("wax+"))) and not inside(path):
                raise refuse(1, "outside the working folder", str(path))
            if os.fsdecode(path).endswith("/environ"):
                raise refuse(1, "not readable here", str(path))
        elif event in _CHANGES:
            named = given[1:2] if event == "os.symlink" else given[:2]  # what a link points to is met when it is opened
            paths = [place for place in named if isinstance(place, (str, bytes, os.PathLike))]
            if not all(inside(path) for path in paths):
                raise refuse(1, "outside the working folder", str(paths[0]))
        elif event in ("os.kill", "os.killpg") and (given[0] in untouchable or (event, given[0]) == ("os.kill", -1)):
            raise refuse(1, "not a process of this program")
        elif event in _NETWORK and not (event == "socket.__new__" and given[1] == 1):
            raise refuse(1, "no network here")

    sys.addaudithook(hook)
