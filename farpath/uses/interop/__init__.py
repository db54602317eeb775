"""Interop: endpoints of the public QUIC interop runner, as they are, in the virtual lab."""

#: Of each command its group and its line.
COMMANDS = {
    "interop": (
        "Your own program",
        "Run cases of the QUIC interop runner between images, or programs, in virtual time.",
    ),
}
