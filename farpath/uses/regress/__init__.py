"""The regression suite: whether and how a change altered the behaviour of stacks."""

#: Of each command its group and its line.
COMMANDS = {
    "regress": (
        "Kernels",
        "Run the suite; each run is identical, within bounds, changed or failed.",
    ),
    "bisect": (
        "Kernels",
        "Find the commit of a Linux tree that changed a stack's packets, by git bisect.",
    ),
}
