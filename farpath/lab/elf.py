"""ELF files, as far as builds and images need them: elf(5), 64 bits, little-endian."""

from __future__ import annotations

import struct
from collections.abc import Iterator

MAGIC = b"\x7fELF"
#: EI_CLASS and EI_DATA of what this module reads, and e_machine of x86-64.
CLASS_64, LITTLE_ENDIAN = 2, 1
X86_64 = 62
#: p_type of the segment that names a program's interpreter.
PT_INTERP = 3


def is_x86_64(elf: bytes) -> bool:
    """Whether it is an ELF file for x86-64, 64 bits."""
    if not elf.startswith(MAGIC + bytes([CLASS_64, LITTLE_ENDIAN])) or len(elf) < 64:
        return False
    (machine,) = struct.unpack_from("<H", elf, 18)
    return bool(machine == X86_64)


def interpreter(elf: bytes) -> str:
    """The loader that a dynamic program names, empty if it is static."""
    (table,) = struct.unpack_from("<Q", elf, 32)  # e_phoff
    size, count = struct.unpack_from("<2H", elf, 54)  # e_phentsize, e_phnum
    for number in range(count):
        kind, _flags, start, _at, _physical, length = struct.unpack_from(
            "<2I4Q", elf, table + number * size
        )
        if kind == PT_INTERP:
            return elf[start : start + length].rstrip(b"\0").decode(errors="replace")
    return ""


def section(elf: bytes, wanted: bytes) -> bytes:
    """The section of that name, empty if there is none."""
    for name, start, length in _sections(elf):
        if name == wanted:
            return elf[start : start + length]
    return b""


def symbol(elf: bytes, wanted: bytes) -> int | None:
    """The address of a symbol, None if the file names none so."""
    names = section(elf, b".strtab")
    for name, _info, _other, _section, address, _size in struct.iter_unpack(
        "<I2BH2Q", section(elf, b".symtab")
    ):
        if names.startswith(wanted + b"\0", name):
            return int(address)
    return None


def _sections(elf: bytes) -> Iterator[tuple[bytes, int, int]]:
    """Name, place and length of each section."""
    (table,) = struct.unpack_from("<Q", elf, 40)  # e_shoff
    size, count, names = struct.unpack_from("<3H", elf, 58)  # e_shentsize, e_shnum, e_shstrndx
    headers = [struct.unpack_from("<2I4Q", elf, table + k * size) for k in range(count)]
    for at, _kind, _flags, _address, start, length in headers:
        begin = headers[names][4] + at
        yield elf[begin : elf.index(b"\0", begin)], start, length
