"""Files of services on the command line: the examples, and what the page on services shows."""

from __future__ import annotations

import json
from pathlib import Path as FilePath
from xml.etree import ElementTree

import pytest

from farpath.base.project import PROJECT
from tests.support.command_line import Farpath
from tests.support.deployments import ECHO

RAFT = PROJECT / "examples" / "compose" / "raft" / "compose.yml"
PAGE = PROJECT / "docs" / "how-to" / "services.md"


def test_the_page_on_services_shows_the_faults_of_the_example(
    farpath: Farpath, tmp_path: FilePath
) -> None:
    done = farpath("up", RAFT, "--seed=2", f"--out={tmp_path}")
    # Who leads when depends on the machine's Python too; what the seed draws does not
    shown = PAGE.read_text().split("    $ farpath up")[1].split("\n\n")[0].splitlines()
    faults = [line.split(" s: ")[1] for line in shown if line.endswith((" begins", " ends"))]
    assert len(faults) == 4
    told = [line.split(" s: ")[1] for line in done.err.splitlines() if " s: " in line]
    assert [line for line in told if line.endswith((" begins", " ends"))] == faults
    assert "client | the counter is " in done.out
    (record,) = tmp_path.glob("up-raft-seed2-*")
    table = farpath("show", record).out
    assert "partition:frankfurt-virginia,at=9.997s,for=3.357s" in table
    shown_json = json.loads(farpath("show", record, "--json").out)
    assert shown_json["status"] == done.status
    assert sorted(fault["began_s"] for fault in shown_json["faults"]) == [
        pytest.approx(at_s, abs=1e-4) for at_s in (9.241, 9.997)
    ]
    assert "up-raft-seed2" in farpath("list", tmp_path).out


def test_the_example_is_right_where_a_node_knows_what_it_has_counted(
    farpath: Farpath, tmp_path: FilePath, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ONCE", "yes")
    junit = tmp_path / "up.xml"
    done = farpath(
        *("up", RAFT, "--seed=2", f"--out={tmp_path}", "--main-alone", f"--junit={junit}")
    )
    assert done.status == 0, done.err
    assert done.out.splitlines()[-1] == "the counter is 78"
    (suite,) = ElementTree.parse(junit).getroot()
    assert (suite.attrib["tests"], suite.attrib["failures"]) == ("1", "0")


def test_a_topology_of_containerlab_is_run_with_its_impairments(
    farpath: Farpath, tmp_path: FilePath
) -> None:
    (tmp_path / "echo.py").write_text(ECHO)
    (tmp_path / "client.py").write_text(
        "import socket, time\n"
        "time.sleep(1); began_s = time.monotonic()\n"
        "with socket.create_connection(('server', 9000)) as c:\n"
        "    c.sendall(b'hello'); print(c.recv(100).decode())\n"
        "print(round((time.monotonic() - began_s) * 1e3), 'ms')\n"
    )
    file = tmp_path / "far.clab.yml"
    file.write_text(
        """
name: far
topology:
  defaults: {kind: linux, image: machine}
  nodes:
    server: {cmd: python3 echo.py}
    client: {cmd: python3 client.py, labels: {farpath.main: "true"}}
  links:
    - endpoints: ["server:eth1", "client:eth1"]
      vars: {delay: 60ms, rate: 100000}
"""
    )
    done = farpath("up", file, f"--out={tmp_path / 'records'}", "--main-alone")
    assert done.out.splitlines() == ["server hello", "240 ms"], done.err
