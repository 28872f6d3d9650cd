"""Bytes out of compressed files and zip archives, zstd included, whatever its number of frames."""

from __future__ import annotations

import gzip
import io
import struct
import zipfile
import zlib
from pathlib import Path
from typing import Any, Self

GZIP, ZSTD, ZIP, PARQUET = b"\x1f\x8b", b"\x28\xb5\x2f\xfd", b"PK\x03\x04", b"PAR1"
#: The number of zstd among the compression methods of zip archives.
METHOD_ZSTD = 93


def _zstd() -> Any:
    """The module of zstd, of the standard library from 3.14 on."""
    try:
        from compression import zstd
    except ImportError:
        from backports import zstd
    return zstd


class BrokenArchive(ValueError):
    """Packed bytes that end early or do not fit their checksum."""


def broken() -> tuple[type[Exception], ...]:
    """What unpacking raises where the packed bytes end early or are damaged."""
    return EOFError, gzip.BadGzipFile, zlib.error, BrokenArchive, zipfile.BadZipFile, _zstd().ZstdError


def opened(path: Path) -> Any:
    """A file's bytes, unpacked where it begins like gzip or zstd, whatever its name."""
    file = path.open("rb")
    magic = file.read(4)
    file.seek(0)
    if magic.startswith(GZIP):
        file.close()
        return gzip.open(path, "rb")
    if magic == ZSTD:
        file.close()
        return _zstd().open(path, "rb")
    return file


class Archive:
    """A zip archive for reading; `zipfile` lists it, and zstd members are unpacked here.

    The standard library knows zstd from 3.14 on, and even there stops at the end of the first frame.
    """

    def __init__(self, path: Path) -> None:
        self._file = path.open("rb")
        try:
            self._zip = zipfile.ZipFile(self._file)
        except BaseException:
            self._file.close()
            raise
        self.names = self._zip.namelist()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._zip.close()
        self._file.close()

    def __contains__(self, name: str) -> bool:
        return name in self._zip.NameToInfo

    def open(self, name: str) -> Any:
        """The bytes of a member as a file."""
        info = self._zip.getinfo(name)
        if info.header_offset < 0:  # where bytes in the middle are gone
            raise BrokenArchive(f"no member {name!r} where the archive says it is")
        if info.compress_type != METHOD_ZSTD:
            return self._zip.open(info)
        self._file.seek(info.header_offset)
        header = self._file.read(30)
        if len(header) < 30 or header[:4] != ZIP:
            raise BrokenArchive(f"no member {name!r} where the archive says it is")
        start = info.header_offset + 30 + sum(struct.unpack("<HH", header[26:30]))
        packed = io.BufferedReader(_Slice(self._file, start, info.compress_size), 1 << 20)
        return _zstd().open(packed, "rb")

    def read(self, name: str) -> bytes:
        """The bytes of a member, checked against its checksum."""
        with self.open(name) as file:
            data: bytes = file.read()
        if zlib.crc32(data) != self._zip.getinfo(name).CRC:
            raise BrokenArchive(f"member {name!r} does not fit its checksum")
        return data


class _Slice(io.RawIOBase):
    """A part of a file as a file of its own."""

    def __init__(self, file: Any, start: int, size: int) -> None:
        self._file, self._place, self._left = file, start, size

    def readable(self) -> bool:
        """Yes."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Fill the buffer from where the last read ended."""
        self._file.seek(self._place)
        data = self._file.read(min(len(buffer), self._left))
        buffer[: len(data)] = data
        self._place += len(data)
        self._left -= len(data)
        return len(data)
