"""What a run could leave behind in a machine, as texts that can be compared."""

from __future__ import annotations

import time
from collections.abc import Collection

from farpath.lab.qemu import OUT, Machine

#: The kernel takes a dead namespace apart in the background.
SETTLE_S = 60.0
#: One command for each kind of trace; its lines are the traces.
COMMANDS = {
    "network namespaces": "lsns --noheadings --type net --output NS",
    "named network namespaces": "ip netns list",
    "all namespaces": "lsns --noheadings --output TYPE,NS",
    "links": "ip -o link show | cut -d : -f 2",
    "queues": "tc qdisc show",
    "bridges": "ovs-vsctl --timeout=2 list-br 2>/dev/null || true",
    "datapaths": "ovs-dpctl dump-dps 2>/dev/null || true",
    # But the kernel's own, children of kthreadd; those that look, which on their way out have
    # a name in brackets only; and what the shell that started all these has not yet waited for
    "processes": "ps -e -o ppid=,pid=,args= | awk '$1 != 2 && $2 != 2 { $1 = $2 = \"\"; print }' "
    "| grep -vE ' (ps|awk|grep|sort|sh|cat|env|lsns) ?"
    "|\\[(ps|awk|grep|sort|sh|cat|env|lsns|mv)\\]( <defunct>)?$' || true",
    "mounts": "cut -d ' ' -f 2,3 /proc/mounts",
    "congestion controls": "cat /proc/sys/net/ipv4/tcp_available_congestion_control",
    "allowed controls": "tr ' ' '\\n' </proc/sys/net/ipv4/tcp_allowed_congestion_control",
    "kernel-wide settings": "sysctl net.core.netdev_max_backlog net.ipv4.tcp_mem "
    "net.core.rmem_max net.core.wmem_max net.ipv4.tcp_congestion_control",
    # /run/mount is of mount(8), from its first use on
    "temporary files": "ls -A /tmp /run | grep -vE '^(jobs|machine|mount)'",
    "cgroups": "find /sys/fs/cgroup -type d",
    "half-made records": f"ls -A {OUT} | grep '^\\.' || true",
}

Traces = dict[str, list[str]]


def traces(machine: Machine) -> Traces:
    """All traces there are now."""
    script = "".join(f"echo '== {kind}'; {command} | sort\n" for kind, command in COMMANDS.items())
    done = machine.run("sh", "-c", script)
    assert done.status == 0, done.stderr
    traces: Traces = {}
    for line in done.stdout.splitlines():
        if line.startswith("== "):
            traces[line[3:]] = lines = []
        else:
            lines.append(line.strip())
    return traces


def left_since(
    machine: Machine, before: Traces, but: Collection[str] = ()
) -> dict[str, tuple[list[str], list[str]]]:
    """Kinds of traces that differ from before, once the kernel had time to take down.

    ``but``: kinds that may differ, and are not waited for.
    """
    limit_s = time.monotonic() + SETTLE_S
    while True:
        now = traces(machine)
        different = {
            kind: (before[kind], now[kind])
            for kind in before
            if kind not in but and before[kind] != now[kind]
        }
        if not different or time.monotonic() > limit_s:
            return different
        machine.run("sleep", "2")
