"""The first packet in which two runs differ, and what TCP held then."""

#: Of each command its group and its line.
COMMANDS = {
    "diff": (
        "Run and look",
        "Find the first packet in which two runs differ, and what each TCP held then.",
    ),
}
