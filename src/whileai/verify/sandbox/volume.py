"""How much a candidate has written to its folder, which no limit of the system bounds. Runs inside the sandbox."""

from __future__ import annotations

import os
import stat

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

MOST_BYTES = 512 * 2**20
MOST_FILES = 20_000


def is_too_large(folder: str, processes: Iterable[int]) -> bool:
    """Whether the files under `folder`, and those without a name that `processes` hold open, are too large or many."""
    total = count = 0
    folders = [folder]
    while folders:
        try:
            entries = os.scandir(folders.pop())
        except OSError:
            continue  # it is gone, or closed to this process
        with entries:
            for entry in entries:
                count += 1
                try:
                    found = entry.stat(follow_symlinks=False)
                except OSError:
                    continue
                total += found.st_blocks * 512
                if stat.S_ISDIR(found.st_mode):
                    folders.append(entry.path)
                if total > MOST_BYTES or count > MOST_FILES:
                    return True
    return total + _without_a_name(processes) > MOST_BYTES


def _without_a_name(processes: Iterable[int]) -> int:
    """The bytes of the removed files that processes still hold open."""
    seen: dict[tuple[int, int], int] = {}
    for process in processes:
        place = f"/proc/{process}/fd"
        try:
            ends = os.listdir(place)  # noqa: PTH208 - pathlib is not loaded here
        except OSError:
            continue
        for end in ends:
            try:
                found = os.stat(f"{place}/{end}")  # noqa: PTH116
            except OSError:
                continue
            if stat.S_ISREG(found.st_mode) and found.st_nlink == 0:
                seen[found.st_dev, found.st_ino] = found.st_blocks * 512
    return sum(seen.values())
