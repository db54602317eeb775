"""The memory that guests share: the module and the host mean the same bytes."""

from __future__ import annotations

import subprocess
from pathlib import Path as FilePath

from farpath.base.project import PROJECT
from farpath.lab import far_link
from farpath.spec import sites
from tests.support.processes import completed

SOURCE = """
#include <stddef.h>
#include <stdio.h>
#include "shared.h"
int main(void)
{
    printf("%llu %d %zu %zu %d", FAR_MAGIC, FAR_VERSION, sizeof(struct far_header),
           sizeof(struct far_site), FAR_PAGE);
    printf(" %d %zu", FAR_MOST_LEAD, offsetof(struct far_site, critical_ns));
    printf(" %zu %zu %zu %zu %zu %zu %zu", offsetof(struct far_header, version),
           offsetof(struct far_header, sites), offsetof(struct far_header, channels),
           offsetof(struct far_header, slots), offsetof(struct far_header, capacity_bytes),
           offsetof(struct far_header, window_ns), offsetof(struct far_header, start_ns));
    printf(" %zu", offsetof(struct far_header, lead));
    return 0;
}
"""


def test_the_module_finds_each_value_where_the_host_wrote_it(tmp_path: FilePath) -> None:
    source, program = tmp_path / "print.c", tmp_path / "print"
    source.write_text(SOURCE)
    folder = PROJECT / "images" / "kernel" / "devices"
    subprocess.run(["gcc", "-Wall", f"-I{folder}", "-o", program, source], check=True)
    printed = completed([program], check=True).stdout
    numbers = [int(word) for word in printed.split()]
    sizes = [far_link.MAGIC, far_link.VERSION, far_link.HEADER_BYTES, far_link.SITE_BYTES]
    assert numbers[:5] == [*sizes, far_link.PAGE_BYTES]
    # "<" packs without gaps: twice 4 bytes, then 8
    assert numbers[5:7] == [sites.MOST_LEAD, 8]
    assert far_link.SITE.size == 16
    # 8 bytes, four times 4, three times 8, once 4
    assert numbers[7:] == [8, 12, 16, 20, 24, 32, 40, 48]
    assert far_link.HEADER.size == 52
