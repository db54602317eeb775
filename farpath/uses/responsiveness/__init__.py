"""The programs of the responsiveness test: a client and a server of HTTP/2 in the lab.

``farpath responsiveness`` runs them as ``farpath exec`` does any program.
"""

#: Port of the server.
PORT = 8080
#: What a client asks for: an object without end, one of a byte, and where to send one without end.
LARGE, SMALL, SINK = "/large", "/small", "/sink"
