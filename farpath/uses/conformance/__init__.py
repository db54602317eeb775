"""Conformance: scenarios that the standards state, run, measured and judged."""

#: Of each command its group and its line.
COMMANDS = {
    "conformance": (
        "Kernels",
        "Run the scenarios that a stack's standards state; print measured and stated values.",
    ),
}
