"""League: every stack beside every other one, on the same paths."""

#: Of each command its group and its line.
COMMANDS = {
    "league": (
        "Many runs",
        "Run every stack beside every other one and itself, as in --stack=reno,cubic,bbr.",
    ),
}
