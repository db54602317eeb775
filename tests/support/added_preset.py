"""A preset that a folder of its own adds: how many bytes a server sends back."""

from __future__ import annotations

from pathlib import Path as FilePath

#: Code that finds it, given the directory as its first argument.
FIND = """
import sys
import farpath.presets
farpath.presets.__path__.append(sys.argv.pop(1))
"""
PRESET = '''
"""Echo: a file by HTTP, whose time has a bound."""

from farpath.metrics.finding import Finding, at_least
from farpath.presets.preset import Commands, Preset
from farpath.programs.entry import Parameter


class Echo(Preset):
    name = "echo"
    summary = "a file by HTTP"
    parameters = (Parameter("rtts", "2", "that are claimed", low=1, high=9),)

    def packages(self, values):
        return {"python3": "python3", "curl": "curl"}

    def commands(self, values):
        client = ("curl", "-s", "-o", "/dev/null", "-w", "%{time_total}", "http://server/file")
        return Commands(client, (("python3", "-m", "http.server", "80"),), (80,))

    def findings(self, output):
        rtts = int(output.values["rtts"])
        took_s = float(output.text("client.out"))
        bound = at_least(rtts * output.rtt_s, f"{rtts} RTT")
        return [Finding("took_s", "answer (s)", took_s, 3, bound=bound)]

    def figure(self, output):
        from matplotlib.figure import Figure

        return Figure()


PRESET = Echo()
'''


def add_echo(folder: FilePath) -> None:
    """Write the preset into a directory of presets."""
    (folder / "echo").mkdir()
    for name, text in (("__init__.py", ""), ("preset.py", PRESET), ("file", "hello\n")):
        (folder / "echo" / name).write_text(text)
