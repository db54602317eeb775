"""Trace-kernel: a recorded run again, with tracepoints of its kernels in virtual time."""

#: Of each command its group and its line.
COMMANDS = {
    "trace-kernel": (
        "Kernels",
        "Make a run again on kernels with tracepoints, and write each event in virtual time.",
    ),
}
