"""Starvation: a search for paths on which a flow gets least of its share."""

#: Of each command its group and its line.
COMMANDS = {
    "starvation": (
        "Many runs",
        "Seek conditions under which one of two flows starves, as in --stack=bbr,cubic --rtt=40ms.",
    ),
}
