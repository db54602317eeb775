"""Debug: a recorded run again, stopped at a virtual instant in gdb, with all its sites."""

#: Of each command its group and its line.
COMMANDS = {
    "debug": (
        "Kernels",
        "Make a run again, stop all its sites at an instant or event, and open gdb on them.",
    ),
}
