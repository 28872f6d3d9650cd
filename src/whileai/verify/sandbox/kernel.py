"""Linux calls that Python does not wrap: Landlock, seccomp, capabilities. Runs inside the sandbox, through ctypes.

Sources: the kernel's pages `userspace-api/landlock`, `userspace-api/seccomp_filter` and `capabilities(7)`.
"""

from __future__ import annotations

import ctypes
import os
import struct

PR_SET_DUMPABLE, PR_SET_KEEPCAPS, PR_CAPBSET_READ, PR_CAPBSET_DROP = 4, 8, 23, 24
PR_SET_CHILD_SUBREAPER, PR_SET_NO_NEW_PRIVS, PR_CAP_AMBIENT = 36, 38, 47
CAP_DAC_READ_SEARCH = 2
CLONE_NEWNET, CLONE_NEW_ANY = 0x40000000, 0x7E020000
EPERM, ENOSYS = 1, 38

_libc = ctypes.CDLL(None, use_errno=True)


def call(name: str, *arguments: int) -> int:
    """A libc function with long arguments; its result, or `OSError`."""
    result = getattr(_libc, name)(*[ctypes.c_long(argument) for argument in arguments])
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{name}: {os.strerror(number)}")
    return int(result)


def prctl(option: int, *arguments: int) -> int:
    """`prctl(2)`, unused arguments zero."""
    return call("prctl", option, *arguments, *[0] * (4 - len(arguments)))


def syscall(number: int, *arguments: object) -> int:
    """A system call by number; bytes and buffers go as pointers."""
    turned = [ctypes.c_long(a) if isinstance(a, int) else a for a in arguments]
    result = _libc.syscall(ctypes.c_long(number), *turned)
    if result < 0:
        code = ctypes.get_errno()
        raise OSError(code, f"syscall {number}: {os.strerror(code)}")
    return int(result)


# --- capabilities ---------------------------------------------------------------------------------------------------


def may_have(capability: int) -> bool:
    """Whether a capability is still within this process's reach."""
    try:
        return prctl(PR_CAPBSET_READ, capability) == 1
    except OSError:
        return False


def set_capabilities(mask: int) -> None:
    """Keep the capabilities of `mask` (the first 32) and no other."""
    header = struct.pack("Ii", 0x20080522, 0)
    data = struct.pack("6I", mask, mask, mask, 0, 0, 0)
    if _libc.capset(ctypes.create_string_buffer(header, len(header)), ctypes.create_string_buffer(data, len(data))) < 0:
        raise OSError(ctypes.get_errno(), "capset")


def drop_bounding_set(keep: int) -> None:
    """Make it impossible to win a capability that is not in the mask `keep` back through a program."""
    for capability in range(64):
        if keep >> capability & 1:
            continue
        try:
            prctl(PR_CAPBSET_DROP, capability)
        except OSError:
            break


# --- Landlock -------------------------------------------------------------------------------------------------------

EXECUTE, WRITE_FILE, READ_FILE, READ_DIR = 1 << 0, 1 << 1, 1 << 2, 1 << 3
REFER, TRUNCATE, IOCTL_DEV = 1 << 13, 1 << 14, 1 << 15
READING = EXECUTE | READ_FILE | READ_DIR
OF_A_FILE = EXECUTE | WRITE_FILE | READ_FILE | TRUNCATE | IOCTL_DEV


def landlock_version() -> int:
    """The kernel's Landlock version, 0 where there is none."""
    try:
        return syscall(444, None, 0, 1)
    except OSError:
        return 0


def landlock(read: list[str], write: list[str], devices: list[str]) -> None:
    """Confine this process: files under `read` to read and run, under `write` to do all with, nothing else.

    From version 4 on TCP is closed too, from 6 on signals and abstract sockets to processes outside.
    """
    version = landlock_version()
    if not version:
        raise OSError(ENOSYS, "this kernel has no Landlock")
    handled = (1 << 13) - 1
    for since, right in ((2, REFER), (3, TRUNCATE), (5, IOCTL_DEV)):
        handled |= right if version >= since else 0
    fields = [handled, 3 if version >= 4 else 0, 3 if version >= 6 else 0]
    size = 24 if version >= 6 else 16 if version >= 4 else 8
    ruleset = syscall(444, struct.pack("3Q", *fields), size, 0)
    rules = [*((path, READING) for path in read), *((path, handled) for path in write)]
    rules += [(path, READ_FILE | WRITE_FILE | TRUNCATE | IOCTL_DEV) for path in devices]
    for path, rights in rules:
        try:
            place = os.open(path, os.O_PATH | os.O_CLOEXEC)
        except OSError:
            continue  # what is not there needs no rule
        allowed = rights & handled
        if not os.path.isdir(path):  # noqa: PTH112 - pathlib would cost its import on every verdict
            allowed &= OF_A_FILE
        syscall(445, ruleset, 1, struct.pack("=Qi", allowed, place), 0)
        os.close(place)
    syscall(446, ruleset, 0)
    os.close(ruleset)


# --- seccomp --------------------------------------------------------------------------------------------------------

# system calls, each with its number on x86-64 and on arm64
DENIED = {
    "socket": (41, 198), "ptrace": (101, 117), "process_vm_readv": (310, 270), "process_vm_writev": (311, 271),
    "kcmp": (312, 272), "pidfd_getfd": (438, 438), "pidfd_open": (434, 434), "process_madvise": (440, 440),
    "bpf": (321, 280), "perf_event_open": (298, 241), "userfaultfd": (323, 282), "keyctl": (250, 219),
    "add_key": (248, 217), "request_key": (249, 218), "mount": (165, 40), "umount2": (166, 39),
    "pivot_root": (155, 41), "chroot": (161, 51), "unshare": (272, 97), "setns": (308, 268),
    "open_by_handle_at": (304, 265), "name_to_handle_at": (303, 264), "init_module": (175, 105),
    "finit_module": (313, 273), "delete_module": (176, 106), "kexec_load": (246, 104), "kexec_file_load": (320, 294),
    "reboot": (169, 142), "swapon": (167, 224), "swapoff": (168, 225), "sethostname": (170, 161),
    "setdomainname": (171, 162), "settimeofday": (164, 170), "clock_settime": (227, 112), "adjtimex": (159, 171),
    "clock_adjtime": (305, 266), "acct": (163, 89), "quotactl": (179, 60), "io_uring_setup": (425, 425),
    "io_uring_enter": (426, 426), "io_uring_register": (427, 427), "open_tree": (428, 428), "move_mount": (429, 429),
    "fsopen": (430, 430), "fsconfig": (431, 431), "fsmount": (432, 432), "fspick": (433, 433),
    "mount_setattr": (442, 442), "personality": (135, 92), "syslog": (103, 116), "migrate_pages": (256, 238),
    "move_pages": (279, 239),
    # memory that no limit counts, or that outlives its processes
    "memfd_create": (319, 279), "memfd_secret": (447, 447), "shmget": (29, 194), "shmat": (30, 196),
    "msgget": (68, 186), "semget": (64, 190), "mq_open": (240, 180),
    # the share of the processor that others get
    "sched_setscheduler": (144, 119), "sched_setparam": (142, 118), "sched_setattr": (314, 274),
    "ioprio_set": (251, 30),
}  # fmt: skip
TRUNCATE_CALLS = (76, 45)
CLONE3 = (435, 435)
CLONE = (56, 220)
PRLIMIT = (302, 261)
SET_PRIORITY = (141, 140)
SET_AFFINITY = (203, 122)
SIGNALS = ((62, 129), (200, 130), (234, 131), (129, 138), (297, 240))  # kill, tkill, tgkill, both sigqueue
SECCOMP = (317, 277)
AUDIT_ARCH = (0xC000003E, 0xC00000B7)

_LOAD, _EQUAL, _AT_LEAST, _ANY_BIT, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
_ALLOW, _ERRNO = 0x7FFF0000, 0x00050000


def machine() -> int:
    """The column of the call numbers, -1 for a machine without."""
    return {"x86_64": 0, "aarch64": 1}.get(os.uname().machine, -1)


def filter_program(untouchable: list[int]) -> bytes:
    """The filter: the calls of `DENIED` fail with EPERM, as do new namespaces, other processes' limits and signals.

    Parameters
    ----------
    untouchable : list of int
        First arguments refused to the signal calls, negative ones for groups; -1, every process, is always refused.
    """
    kind = machine()
    steps: list[tuple[int, int, int, int]] = [(_LOAD, 0, 0, 4), (_EQUAL, 1, 0, AUDIT_ARCH[kind])]
    steps += [(_RETURN, 0, 0, _ERRNO | EPERM), (_LOAD, 0, 0, 0)]
    if kind == 0:  # the x32 calls are the same ones under other numbers
        steps += [(_AT_LEAST, 0, 1, 0x40000000), (_RETURN, 0, 0, _ERRNO | ENOSYS)]
    denied = [numbers[kind] for numbers in DENIED.values()]
    denied += [TRUNCATE_CALLS[kind]] if landlock_version() < 3 else []
    for number in denied:
        steps += [(_EQUAL, 0, 1, number), (_RETURN, 0, 0, _ERRNO | EPERM)]
    # clone3 hides its flags in memory; the C library falls back to clone
    steps += [(_EQUAL, 0, 1, CLONE3[kind]), (_RETURN, 0, 0, _ERRNO | ENOSYS)]
    steps += _on_argument(CLONE[kind], [(_ANY_BIT, 0, 1, CLONE_NEW_ANY)])
    for own_only in (PRLIMIT, SET_AFFINITY):
        steps += _on_argument(own_only[kind], [(_EQUAL, 1, 0, 0)])
    steps += _on_argument(SET_PRIORITY[kind], [(_EQUAL, 1, 0, 0)])  # one process
    steps += _on_argument(SET_PRIORITY[kind], [(_EQUAL, 1, 0, 0)], place=1)  # this one
    for numbers in SIGNALS:
        steps += _on_argument(numbers[kind], [(_EQUAL, 0, 1, value & 0xFFFFFFFF) for value in [-1, *untouchable]])
    steps.append((_RETURN, 0, 0, _ALLOW))
    return b"".join(struct.pack("HBBI", *step) for step in steps)


def _on_argument(
    number: int, tests: list[tuple[int, int, int, int]], place: int = 0
) -> list[tuple[int, int, int, int]]:
    """Steps that refuse the call `number` where one of the tests on one of its arguments says so."""
    body: list[tuple[int, int, int, int]] = [(_LOAD, 0, 0, 16 + 8 * place)]
    for test in tests:
        body += [test, (_RETURN, 0, 0, _ERRNO | EPERM)]
    body.append((_LOAD, 0, 0, 0))
    return [(_EQUAL, 0, len(body), number), *body]


def seccomp(untouchable: list[int]) -> None:
    """Put `filter_program` on this process and all it starts; needs no-new-privileges."""
    if machine() < 0:
        raise OSError(ENOSYS, "no table of system calls for this machine")
    program = filter_program(untouchable)
    kept = ctypes.create_string_buffer(program, len(program))
    head = struct.pack("HxxxxxxQ", len(program) // 8, ctypes.addressof(kept))
    syscall(SECCOMP[machine()], 1, 4, head)  # 4: without the slow mitigations meant for untrusted native code
