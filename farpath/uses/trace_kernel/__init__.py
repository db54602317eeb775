"""Trace-kernel: a recorded run again, with tracepoints of its kernels in virtual time."""

#: Of each command its group and its line.
COMMANDS = {
    "trace-kernel": (
        "Kernels",
        "Make a run again, and write tracepoints of its kernels: tcp:*, sock:*, qdisc:*, skb:*.",
    ),
}
