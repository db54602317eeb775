"""The programs of the responsiveness test: a client and a server of HTTP/2 in the lab.

``farpath responsiveness`` runs them as ``farpath exec`` does any program.
"""

#: Port of the server.
PORT = 8080
#: Requests of a client: for an object without end, for one byte, and to send without end.
LARGE, SMALL, SINK = "/large", "/small", "/sink"

#: Of each command its group and its line.
COMMANDS = {
    "responsiveness": (
        "Your own program",
        "Measure round trips per minute under load, as draft-ietf-ippm-responsiveness says.",
    ),
}
