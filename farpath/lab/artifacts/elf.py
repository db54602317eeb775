"""ELF files: reads sections, symbols and the interpreter (elf(5), 64 bits, little-endian)."""

from __future__ import annotations

import struct
from collections.abc import Collection, Iterator

MAGIC = b"\x7fELF"
#: EI_CLASS and EI_DATA of the files that this module reads, and e_machine of x86-64.
CLASS_64, LITTLE_ENDIAN = 2, 1
X86_64 = 62
#: p_type of the segment that names a program's interpreter.
PT_INTERP = 3
#: An entry of a table of symbols: name, info, other, section, address and size.
SYMBOL = "<I2BH2Q"


class ElfError(ValueError):
    """A file with an ELF header that is cut short or inconsistent."""


def _unpack(layout: str, elf: bytes, at: int) -> tuple[int, ...]:
    """Unpack numbers at an offset; raises ElfError if the file ends before it."""
    if at + struct.calcsize(layout) > len(elf):
        raise ElfError(f"its {len(elf)} bytes end before offset {at}")
    return struct.unpack_from(layout, elf, at)


def is_x86_64(elf: bytes) -> bool:
    """Whether a file is an ELF file for x86-64, 64 bits."""
    if not elf.startswith(MAGIC + bytes([CLASS_64, LITTLE_ENDIAN])) or len(elf) < 64:
        return False
    (machine,) = _unpack("<H", elf, 18)
    return bool(machine == X86_64)


def interpreter(elf: bytes) -> str:
    """Return the loader of a dynamic program, empty if it is static; ElfError if cut short."""
    (table,) = _unpack("<Q", elf, 32)  # e_phoff
    size, count = _unpack("<2H", elf, 54)  # e_phentsize, e_phnum
    for number in range(count):
        segment_type, _flags, start, _at, _physical, length = _unpack(
            "<2I4Q", elf, table + number * size
        )
        if segment_type == PT_INTERP:
            return elf[start : start + length].rstrip(b"\0").decode(errors="replace")
    return ""


def section(elf: bytes, wanted: bytes) -> bytes:
    """Return the section of a name, empty if there is none; ElfError if the file is cut short."""
    for name, start, length in _sections(elf):
        if name == wanted:
            return elf[start : start + length]
    return b""


def symbol(elf: bytes, wanted: bytes) -> int | None:
    """Return the address of a symbol; None if the file has no such symbol."""
    return symbols(elf, (wanted,)).get(wanted)


def symbols(elf: bytes, wanted: Collection[bytes]) -> dict[bytes, int]:
    """Return the addresses of those of the wanted symbols that the file has."""
    found: dict[bytes, int] = {}
    for name, address in _symbols(elf):
        if name in wanted:
            found.setdefault(name, address)
            if len(found) == len(wanted):
                break
    return found


def symbol_names(elf: bytes) -> Iterator[bytes]:
    """Return the names of all symbols."""
    return (name for name, _address in _symbols(elf))


def _symbols(elf: bytes) -> Iterator[tuple[bytes, int]]:
    names = section(elf, b".strtab")
    for at, _info, _other, _section, address, _size in struct.iter_unpack(
        SYMBOL, section(elf, b".symtab")
    ):
        yield names[at : names.find(b"\0", at)], int(address)


def import_slot(elf: bytes, wanted: bytes) -> int | None:
    """Return the address of the pointer by which a program calls a function of a library.

    None if the program does not call it (System V ABI for x86-64, R_X86_64_JUMP_SLOT).
    """
    names, imports = section(elf, b".dynstr"), section(elf, b".dynsym")
    for slot, info, _addend in struct.iter_unpack("<2Qq", section(elf, b".rela.plt")):
        at, *_ = _unpack(SYMBOL, imports, (info >> 32) * struct.calcsize(SYMBOL))
        if names.startswith(wanted + b"\0", at):
            return int(slot)
    return None


def _sections(elf: bytes) -> Iterator[tuple[bytes, int, int]]:
    """Yield name, offset and length of each section."""
    (table,) = _unpack("<Q", elf, 40)  # e_shoff
    size, count, names = _unpack("<3H", elf, 58)  # e_shentsize, e_shnum, e_shstrndx
    headers = [_unpack("<2I4Q", elf, table + k * size) for k in range(count)]
    if headers and names >= count:
        raise ElfError(f"its section {names} of names is not among {count}")
    for at, _type, _flags, _address, start, length in headers:
        begin = headers[names][4] + at
        end = elf.find(b"\0", begin)
        yield elf[begin : end if end >= 0 else len(elf)], start, length
