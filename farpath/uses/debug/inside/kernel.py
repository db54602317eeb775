"""Kernel: walks of Linux's lists and tables, by the types of the kernel's debug information."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any

import gdb


@cache
def type_of(name: str) -> Any:
    """Return a type; raises gdb.error without debug information."""
    return gdb.lookup_type(name)


def pointer(address: int, name: str) -> Any:
    """Return an address as a pointer to a type."""
    return gdb.Value(address).cast(type_of(name).pointer())


@cache
def offset_of(name: str, field: str) -> int:
    """Return the offset of a field in bytes; ``field`` may lead into structures: a.b."""
    return int(gdb.parse_and_eval(f"(unsigned long)&(({name} *)0)->{field}"))


def container_of(address: int, name: str, field: str) -> Any:
    """Return a pointer to the structure in which a field has this address."""
    return pointer(address - offset_of(name, field), name)


def of_list(head: Any, name: str, field: str) -> Iterator[Any]:
    """Yield the entries of a list_head."""
    start, entry = int(head.address), int(head["next"])
    while entry != start:
        yield container_of(entry, name, field)
        entry = int(pointer(entry, "struct list_head")["next"])


def of_nodes(first: int, name: str, field: str) -> Iterator[Any]:
    """Yield the entries of a chain of hlist_node, or of hlist_nulls_node, whose end is odd."""
    while first and not first & 1:
        yield container_of(first, name, field)
        first = int(pointer(first, "struct hlist_node")["next"])


def of_tree(root: Any, name: str, field: str) -> Iterator[Any]:
    """Yield the entries of a red-black tree in order."""
    stack: list[int] = []
    node = int(root["rb_node"])
    while stack or node:
        while node:
            stack.append(node)
            node = int(pointer(node, "struct rb_node")["rb_left"])
        node = stack.pop()
        yield container_of(node, name, field)
        node = int(pointer(node, "struct rb_node")["rb_right"])


def function_at(address: int) -> str:
    """Return the name of the function at an address, or the address itself."""
    block = gdb.block_for_pc(address) if address else None
    if block is not None and block.function is not None:
        return str(block.function.print_name)
    text = str(gdb.execute(f"info symbol {address}", to_string=True) or "")
    return hex(address) if text.startswith("No symbol") else text.split()[0]


def text_of(characters: Any) -> str:
    """Return an array of characters, or what a pointer to them leads to, as a text."""
    return str(characters.string())
