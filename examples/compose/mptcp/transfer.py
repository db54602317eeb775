"""Sends for some seconds to a receiver, which prints the rate of each second.

``transfer.py serve`` and ``transfer.py send SERVER SECONDS`` ask for MPTCP themselves. A program
that only knows TCP gets it by ``mptcpize run`` of Debian's package mptcpize.
"""

import socket
import sys
import time

PORT = 5001


def serve() -> None:
    """Accept one connection and print what arrives on it, a line for each second."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_MPTCP) as listener:
        listener.bind(("", PORT))
        listener.listen()
        connection, _ = listener.accept()
        with connection:
            began_s, second, arrived = time.monotonic(), 1, 0
            while data := connection.recv(1 << 16):
                while time.monotonic() >= began_s + second:
                    print(f"{second:2} s: {8e-6 * arrived:4.1f} Mbit/s", flush=True)
                    second, arrived = second + 1, 0
                arrived += len(data)


def send(server: str, seconds: float) -> None:
    """Send to a server for some seconds, and wait until it has all."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_MPTCP) as connection:
        connection.connect((server, PORT))
        end_s, sent = time.monotonic() + seconds, 0
        while time.monotonic() < end_s:
            sent += connection.send(bytes(1 << 14))
        connection.shutdown(socket.SHUT_WR)
        connection.recv(1)
        print(f"sent {sent / 1e6:.1f} MB")


if __name__ == "__main__":
    if sys.argv[1] == "serve":
        serve()
    else:
        send(sys.argv[2], float(sys.argv[3]))
