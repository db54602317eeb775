"""The search for the models of published paths."""

#: Of each command its group and its line.
COMMANDS = {
    "fit": (
        "The 2005 study",
        "Search for the path model that agrees best with the published numbers.",
    ),
}
