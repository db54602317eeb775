"""Names another dynamic loader in an ELF program: own-loader.py PROGRAM LOADER RESULT.

The kernel takes the loader's name from where the program's header PT_INTERP says
(elf(5)); so it can stand at the file's end. A relative name is looked up in the
directory in which the program is started.
"""

from __future__ import annotations

import struct
import sys
from pathlib import Path

PT_INTERP = 3


def with_loader(program: bytes, loader: str) -> bytes:
    """A 64-bit little-endian program that asks for another loader."""
    if program[:6] != b"\x7fELF\x02\x01":
        raise SystemExit("own-loader: no ELF program of 64 bits")
    changed = bytearray(program)
    name = loader.encode() + b"\0"
    (table,) = struct.unpack_from("<Q", program, 32)
    size, count = struct.unpack_from("<HH", program, 54)
    for header in range(table, table + size * count, size):
        if struct.unpack_from("<I", program, header) == (PT_INTERP,):
            struct.pack_into("<Q", changed, header + 8, len(program))
            struct.pack_into("<Q", changed, header + 32, len(name))
            return bytes(changed) + name
    raise SystemExit("own-loader: the program names no loader")


if __name__ == "__main__":
    source, interpreter, result = sys.argv[1:]
    Path(result).write_bytes(with_loader(Path(source).read_bytes(), interpreter))
    Path(result).chmod(0o755)
