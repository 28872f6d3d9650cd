"""The candidate's process as the supervisor sees it: start, hear, feed, count and end it. Runs inside the sandbox."""

from __future__ import annotations

import contextlib
import os
import select
import signal
import sys
import time

from whileai.verify.sandbox import cage, runner, volume
from whileai.verify.sandbox.channel import Channel, Messages, Tampered, framed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Protocol

    class Listener(Protocol):
        """Who is told what the candidate's process says."""

        over: bool

        def hear(self, message: Any) -> Any:
            """Take a message in; the answer, if it asks for one."""


TAIL = 1000
MOST_OUTPUT = 16 * 2**20
WATCH = 0.25


class Program(BaseException):
    """Raised in the forked process, all the way up, so that the program runs with nothing beneath it."""

    def __init__(self, job: dict[str, Any]) -> None:
        super().__init__()
        self.job = job


class Child:
    """The candidate's process, with its pipes."""

    def __init__(self, job: dict[str, Any], *, stdin: bytes | None = None) -> None:
        self.job = job
        key = os.urandom(32)
        self.messages = Messages(key)
        self.tail = bytearray()
        self.output: bytearray | None = None if stdin is None else bytearray()
        self.feed = stdin or b""
        self.status: int | None = None
        self.usage = 0.0
        supervisor = os.getpid()
        (self.said, say), (hear, self.answer), (self.out, out), (err_in, err) = (os.pipe() for _ in range(4))
        give = self.give = -1
        if stdin is not None:
            give, self.give = os.pipe()
        self.err = err_in
        self.pid = os.fork()
        if self.pid == 0:
            try:
                self._become(job, supervisor, key, (say, hear, out, err, give))
            finally:
                if stdin is None:
                    os._exit(1)
            raise Program(job)
        for end in (say, hear, out, err, give):
            if end >= 0:
                os.close(end)
        for end in (self.said, self.out, self.err, self.give):
            if end >= 0:
                os.set_blocking(end, False)

    def _become(self, job: dict[str, Any], supervisor: int, key: bytes, ends: tuple[int, ...]) -> None:
        """The life of the candidate's process."""
        say, hear, out, err, give = ends
        os.setsid()
        nothing = os.open("/dev/null", os.O_RDWR)
        os.dup2(give if give >= 0 else nothing, 0)
        os.dup2(out, 1)
        os.dup2(err, 2)
        base = min(200, cage.most_files() - 2)
        os.dup2(say, base)
        os.dup2(hear, base + 1)
        os.closerange(3, base)
        os.closerange(base + 2, 1024)
        for end in (0, 1, 2):
            os.set_inheritable(end, True)
        for name in (signal.SIGINT, signal.SIGTERM, signal.SIGPIPE):
            signal.signal(name, signal.SIG_DFL if name != signal.SIGINT else signal.default_int_handler)
        channel = Channel(base + 1, base, key)
        try:
            on = cage.confine(job["cage"], supervisor)
        except (OSError, ValueError) as error:
            channel.say(["uncaged", f"{type(error).__name__}: {error}"])
            os._exit(1)
        channel.say(["caged", on])
        if give < 0:
            runner.run_tests(channel, job)
            channel.ask()  # until it is killed
            os._exit(0)
        os.closerange(3, 1024)

    def ended(self) -> bool:
        """Whether the process has ended; what it used is in `usage` then."""
        if self.status is None:
            pid, status, used = os.wait4(self.pid, os.WNOHANG)
            if pid == self.pid:
                self.status, self.usage = status, used.ru_utime + used.ru_stime
        return self.status is not None

    def close(self) -> None:
        """Close the pipes."""
        for end in (self.said, self.answer, self.out, self.err, self.give):
            if end >= 0:
                os.close(end)


class Watch:
    """The loop around one child: hear it, feed it, count it, stop it in time."""

    def __init__(self, child: Child, deadline: float, judge: Listener | None = None) -> None:
        self.child, self.deadline, self.judge = child, deadline, judge
        self.stopped = ""
        self.caged: list[str] | None = None
        self.fault = ""
        self.kept = 0

    def run(self) -> None:
        """Until the child has ended or is to be ended; `stopped` says why."""
        child = self.child
        death = _death_of(child.pid)
        poll = self._poll(death)
        pause = 1000 * WATCH if death >= 0 else 10
        look = time.monotonic() + WATCH
        while not self.stopped:
            now = time.monotonic()
            if now >= look:
                # root without another user is not counted by the system: look at it more often
                bare = os.geteuid() == 0 and "user" not in (self.caged or ["user"])
                look = now + (WATCH / 10 if bare else WATCH)
                self.stopped = self._too_much()
            if now >= self.deadline:
                self.stopped = self.stopped or "wall"
            for end, event in poll.poll(max(0, min(pause, 1000 * (look - now), 1000 * (self.deadline - now)) + 1)):
                self._event(poll, end, event, death)
            if child.ended() and not self.stopped:
                while self._read(child.said) | self._read(child.out) | self._read(child.err):
                    pass
                self.stopped = self.stopped or "ended"
        if death >= 0:
            os.close(death)

    def _poll(self, death: int) -> select.poll:
        child, poll = self.child, select.poll()
        for end in (child.said, child.out, child.err, death):
            if end >= 0:
                poll.register(end, select.POLLIN)
        poll.register(1, 0)  # an error here means that the caller is gone
        if child.give >= 0:
            poll.register(child.give, select.POLLOUT)
        return poll

    def _event(self, poll: select.poll, end: int, event: int, death: int) -> None:
        if end == 1:
            if event & (select.POLLERR | select.POLLHUP):
                self.stopped = "caller"
        elif end == self.child.give:
            self._give(poll)
        elif end != death and not self._read(end):
            poll.unregister(end)

    def _read(self, end: int) -> bool:
        """Read a part of a pipe; whether there may be more."""
        try:
            part = os.read(end, 2**16)
        except BlockingIOError:
            return False
        if not part:
            return False
        child = self.child
        if end == child.said:
            try:
                for message in child.messages.feed(part):
                    self._heard(message)
            except (Tampered, LookupError, TypeError, ValueError, AttributeError, ArithmeticError, RecursionError):
                # sealed well and yet not what an honest run says
                self.stopped = self.stopped or "tampered"
        elif child.output is not None and end == child.out:
            self.kept += len(part)
            if self.kept > MOST_OUTPUT:
                self.stopped = self.stopped or "output"
            else:
                child.output += part
        else:
            child.tail += part
            del child.tail[:-TAIL]
        return True

    def _heard(self, message: Any) -> None:
        word = message[0]
        if word == "caged":
            self.caged = message[1]
        elif word == "uncaged":
            self.fault, self.stopped = message[1], "uncaged"
        elif self.judge is not None:
            answer = self.judge.hear(message)
            if answer is not None:
                write(self.child.answer, framed(answer))
            if self.judge.over:
                self.stopped = self.stopped or "done"

    def _give(self, poll: select.poll) -> None:
        child = self.child
        try:
            child.feed = child.feed[os.write(child.give, child.feed[: 2**16]) :] if child.feed else b""
        except BlockingIOError:
            return
        except OSError:
            child.feed = b""
        if not child.feed:
            poll.unregister(child.give)
            os.close(child.give)
            child.give = -1

    def _too_much(self) -> str:
        """``memory`` or ``processes`` where all of the candidate's processes together have too much of it."""
        sizes = descendants(os.getpid())
        if len(sizes) > cage.PROCESSES + 8:
            return "processes"
        spare = 16 * 2**20  # what forked processes share is counted in each
        total = sum(max(0, size - spare) for size in sizes.values())
        spec = self.child.job["cage"]
        if total > spec["memory"] * 1.25:
            return "memory"
        # under bubblewrap the folder is a file system with a size of its own
        return "files" if not spec["bubblewrap"] and volume.is_too_large(spec["work"], sizes) else ""


def _death_of(process: int) -> int:
    try:
        return os.pidfd_open(process)
    except (AttributeError, OSError):
        return -1


def write(end: int, data: bytes) -> None:
    """Write all of it, unless the reader is gone."""
    with contextlib.suppress(OSError):  # the process is gone, which the loop sees
        while data:
            data = data[os.write(end, data) :]


def descendants(root: int) -> dict[int, int]:
    """The processes under `root` with their resident bytes, as far as the system shows them."""
    parents: dict[int, tuple[int, int]] = {}
    try:
        names = os.listdir("/proc")  # noqa: PTH208 - pathlib is not loaded here
    except OSError:
        return {}
    for name in names:
        if name.isdecimal():
            try:
                with open(f"/proc/{name}/stat", "rb") as file:  # noqa: PTH123
                    fields = file.read().rpartition(b")")[2].split()
            except OSError:
                continue
            parents[int(name)] = (int(fields[1]), int(fields[21]) * 4096)
    found: dict[int, int] = {}
    grown = {root}
    while grown:
        grown = {pid for pid, (parent, _) in parents.items() if parent in grown}
        found |= {pid: parents[pid][1] for pid in grown}
    return found


def end_all(child: Child) -> None:
    """Kill the child and every process that came of it, and wait for them: orphans come to this process."""
    user = child.job["cage"]["user"]
    for attempt in range(500):
        if child.status is None:  # once waited for, its number may be another's
            _quietly(os.killpg, child.pid)
            _quietly(os.kill, child.pid)
        if attempt and os.geteuid() == 0 and sys.platform == "linux":
            _kill_user(user)
        for pid in descendants(os.getpid()) if attempt else ():
            _quietly(os.kill, pid)
        if child.status is None:
            _, child.status, used = os.wait4(child.pid, 0)
            child.usage = used.ru_utime + used.ru_stime
        try:
            while os.wait4(-1, os.WNOHANG)[0]:
                pass
        except ChildProcessError:
            return
        time.sleep(0.001)


def _quietly(function: Any, target: int) -> None:
    with contextlib.suppress(OSError):  # it is gone already
        function(target, signal.SIGKILL)


def _kill_user(user: int) -> None:
    """Kill all of a private user's processes in one call that none can run from."""
    pid = os.fork()
    if pid == 0:
        try:
            os.setresuid(user, user, user)
            os.kill(-1, signal.SIGKILL)
        finally:
            os._exit(0)
    os.waitpid(pid, 0)


def _signal_of(child: Child) -> int:
    return os.WTERMSIG(child.status) if child.status is not None and os.WIFSIGNALED(child.status) else 0


def is_spent(child: Child, stopped: str) -> bool:
    """Whether the process was ended because its processor time was used up, which no other load on the machine does."""
    number = _signal_of(child)
    over = child.usage >= child.job["cage"]["cpu"]
    return stopped == "ended" and (number == signal.SIGXCPU or (number == signal.SIGKILL and over))


def died(child: Child, cage_spec: dict[str, Any], stopped: str) -> tuple[str, int | None, str]:
    """Status, reward and reason where the process ended or was ended early."""
    signal_number = _signal_of(child)
    if stopped == "wall":
        return "timeout", None, f"not done after {child.job['wall']:g} s"
    if is_spent(child, stopped):
        return "timeout", None, f"used up its {cage_spec['cpu']:g} s of processor time"
    megabytes = cage_spec["memory"] // 2**20
    reasons = {
        "memory": f"its processes needed more than {megabytes} MB of memory together",
        "processes": "started too many processes",
        "tampered": "wrote into the channel of the verdict",
        "files": f"wrote more than {volume.MOST_BYTES // 2**20} MB or {volume.MOST_FILES:,} files",
        "output": f"printed more than {MOST_OUTPUT // 2**20} MB",
    }
    if stopped in reasons:
        return "ok", 0, reasons[stopped]
    how = f"ended by signal {signal_number}" if signal_number else "the process exited"
    return "ok", 0, f"{how} before the tests were done"
