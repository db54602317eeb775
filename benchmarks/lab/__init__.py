"""The benchmark: the performance that the lab reaches, next to its goals.

Nothing here decides whether a test passes, because a machine may be slow or busy. A figure that
this machine cannot measure is None and says what is missing.
"""

#: Of each command its group and its line.
COMMANDS = {
    "bench": (
        "The machine",
        "Measure the lab's speed, memory and accuracy, compare it with others, and make "
        "large runs.",
    ),
}
