"""Symbols of the modules that a guest has loaded, with their source."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import gdb

from farpath.uses.debug.inside import kernel
from farpath.uses.debug.inside.inferiors import Site, run_silently

#: Where a module's code begins.
TEXT = ".text"
#: Sections that gdb asks for, by their beginnings; those of a module's start are gone.
_KEPT = (".text", ".data", ".bss", ".rodata")


class Modules:
    """The modules of a site. ``files``: by module its file with debug information."""

    def __init__(self, site: Site, files: Mapping[str, str]) -> None:
        self._site, self._awaited = site, dict(files)

    def add_symbols(self) -> None:
        """Give gdb the symbols of those modules that have been loaded since the last call."""
        if not self._awaited:
            return
        with self._site.selected():
            for name, sections in list(_loaded()):
                if name in self._awaited:
                    others = " ".join(
                        f"-s {section} {address:#x}"
                        for section, address in sections.items()
                        if section != TEXT and section.startswith(_KEPT)
                    )
                    file = self._awaited.pop(name)
                    run_silently(f"add-symbol-file {file} {sections[TEXT]:#x} {others}")


def _loaded() -> Iterator[tuple[str, dict[str, int]]]:
    """Yield each loaded module with the addresses of its sections (kernel/module/sysfs.c)."""
    modules = gdb.parse_and_eval("modules")
    for module in kernel.of_list(modules, "struct module", "list"):
        if int(module["sect_attrs"]):
            sections = dict(_sections(module["sect_attrs"]["grp"]["bin_attrs"]))
            if TEXT in sections:
                yield kernel.text_of(module["name"]), sections


def _sections(attributes: Any) -> Iterator[tuple[str, int]]:
    number = 0
    while int(attributes[number]):
        attribute = attributes[number].dereference()
        yield kernel.text_of(attribute["attr"]["name"]), int(attribute["private"])
        number += 1
