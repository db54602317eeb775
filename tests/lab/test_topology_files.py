"""Files with Mininet topologies: which run unedited, and what is said of those that do not.

They are read with the lab's Mininet; no lab starts.
"""

from __future__ import annotations

import logging
import os
import sys
import time
from pathlib import Path as FilePath

import pytest

from farpath.base.errors import BadInputError
from farpath.base.project import PROJECT
from farpath.lab.artifacts import user_topologies
from farpath.lab.artifacts.user_topologies import user_network
from farpath.spec.user_network import UserNetwork

#: Files of the forms that courses share.
COURSE = PROJECT / "tests" / "data" / "topologies"


def read(text: str) -> UserNetwork:
    """The network that a text names."""
    network = user_network(text)
    assert network is not None
    return network


def way(network: UserNetwork, one: str, other: str) -> list[tuple[float, float, int]]:
    """Rate in Mbit/s, delay in ms and buffer of each cable on a way."""
    return [
        (step.shaping.rate_bps / 1e6, step.shaping.delay_ms, step.shaping.buffer_packets)
        for step in network.way(one, other)
    ]


def written(tmp_path: FilePath, text: str, name: str = "mine.py") -> str:
    """A user's file."""
    file = tmp_path / name
    file.write_text(text)
    return str(file)


def refusal(text: str) -> str:
    """What is said of a file that cannot be used, in one line."""
    with pytest.raises(BadInputError) as caught:
        user_network(text)
    assert "\n" not in caught.value.message
    return caught.value.message


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("bufferbloat.py -- --bw-net 1.5 --delay 10", [(1000, 10, 1000), (1.5, 10, 100)]),
        ("bufferbloat.py:BBTopo -- -b 2 --delay=1 --maxq=9", [(1000, 1, 1000), (2, 1, 9)]),
        ("script.py", [(100, 0, 660), (100, 0.1, 1000)]),
        ("exported.py", [(0, 0, 0), (10, 15, 40), (0, 0, 0)]),
        ("dumbbell.py", [(960, 0, 1000)] * 2),
        ("dumbbell.py:DumbbellTopo,7", [(960, 0, 1000)] * 2),
        ("main_line.py", [(20, 10, 1000)] * 3),
        ("own_topos.py:star", [(10, 5, 1000)] * 2),
        ("own_topos.py:line,3", [(10, 5, 1000)] * 3),
        ("own_topos.py:tree,depth=2", [(10, 5, 1000)] * 2),
    ],
)
def test_files_as_courses_share_them_are_read_unedited(
    text: str, expected: list[tuple[float, float, int]]
) -> None:
    assert way(read(str(COURSE / text)), "h1", "h2") == expected


def test_a_main_part_gets_the_arguments_and_gives_them_to_its_topology() -> None:
    delays_ms = [
        way(read(f"{COURSE / 'dumbbell.py'}{text}"), "h1", "h3")[1][1]
        for text in ("", " --", " -- 81")
    ]
    assert delays_ms == [21, 21, 81]


def test_a_network_may_be_changed_until_it_starts(tmp_path: FilePath) -> None:
    text = """
from functools import partial
from mininet.net import Mininet
from mininet.link import TCLink
from mininet.topo import SingleSwitchTopo
from mininet.util import custom
net = Mininet(SingleSwitchTopo(2), link=custom(TCLink, bw=10))
h3, h4 = net.addHost("h3"), net.addHost("h4")
link = net.addLink(h3, net["s1"], bw=30)
net.delLink(net.addLink(h4, "s1"))
h4.linkTo(net.get("s1"))
h3.intf("h3-eth0").config(delay="5ms", bw=40)
assert net.hosts[1].IP() == "10.0.0.2" and len(net) == 5 and str(link.intf2) == "s1-eth3"
net.start()
raise RuntimeError("not reached")
"""
    network = read(written(tmp_path, text))
    assert way(network, "h3", "h4") == [(40, 5, 1000), (10, 0, 1000)]
    assert way(network, "h1", "h3") == [(10, 0, 1000), (30, 0, 1000)]


def test_what_a_script_would_run_is_named_and_not_run(
    tmp_path: FilePath, caplog: pytest.LogCaptureFixture
) -> None:
    text = """
import os, subprocess
from mininet.net import Mininet
from mininet.node import Host
from mininet.util import quietRun, errRun
os.system("touch made-1")
subprocess.run("touch made-2", shell=True, check=True)
subprocess.check_output(["touch", "made-3"])
quietRun("touch made-4"), errRun("touch made-5", shell=True), os.popen("touch made-6").read()
net = Mininet()
for name in ("h1", "h2"):
    net.addLink(net.addHost(name), "s1" if "s1" in net else net.addSwitch("s1"), bw=10)
net["h1"].cmd("tc qdisc add dev h1-eth0 root netem delay 5ms")
net["h1"].popen("touch made-7").wait()
try:
    net.start()
finally:
    os.mkdir("made-8")
"""
    with caplog.at_level(logging.WARNING):
        read(written(tmp_path, text))
    assert [file.name for file in tmp_path.iterdir()] == ["mine.py"]
    ran, queues, plain = (record.message for record in caplog.records)
    assert "its commands are not run (line 6: os.system('touch made-1'); " in ran
    assert "FLOWS says who sends" in ran
    assert "what it tells tc is not seen (line 13: net['h1'].cmd('tc qdisc add dev" in queues
    assert "Mininet ignores what its links do to packets (h1-s1), since they are of class" in plain


def test_what_colours_and_draws_may_be_missing(
    tmp_path: FilePath, caplog: pytest.LogCaptureFixture
) -> None:
    text = """
import termcolor as T
import seaborn.palettes
from seaborn import axes_style
from mininet.topo import SingleSwitchTopo
axes_style.figure(figsize=(1, 2)).rc["lines"] = seaborn.palettes.show()
topos = {T.colored("star", "red"): SingleSwitchTopo}
"""
    with caplog.at_level(logging.WARNING):
        assert len(read(f"{written(tmp_path, text)}:star,2").hosts) == 2
    said = [record.message.partition("mine.py: ")[2] for record in caplog.records]
    assert said == [
        "termcolor is not installed: what it shows is left out",
        "seaborn is not installed: what it shows is left out",
    ]


def test_a_link_of_a_users_class_is_what_that_class_hands_over(
    tmp_path: FilePath, caplog: pytest.LogCaptureFixture
) -> None:
    text = """
from mininet.link import Link, TCIntf, TCLink
from mininet.net import Mininet
from mininet.topo import SingleSwitchTopo
class AQMLink(Link):
    def __init__(self, node1, node2, port1=None, port2=None, cls1=TCIntf, cls2=TCIntf, **params):
        super().__init__(node1, node2, port1=port1, port2=port2, cls1=cls1, cls2=cls2,
                         params1=params, params2=params)
class SlowLink(TCLink):
    def __init__(self, *args, **options):
        super().__init__(*args, delay="2ms", **options)
class PIEIntf(TCIntf):
    pass
net = Mininet(SingleSwitchTopo(2, lopts={"bw": 10}), link=AQMLink)
net.addLink(net.addHost("h3"), "s1", cls=SlowLink, bw=5)
"""
    with caplog.at_level(logging.WARNING):
        network = read(written(tmp_path, text))
    assert way(network, "h1", "h3") == [(10, 0, 1000), (5, 2, 1000)]
    assert caplog.records == []
    text += "net.addLink(net.addHost('h4'), 's1', cls2=PIEIntf, bw=5)\n"
    assert "link h4-s1 has cls2='PIEIntf': what a class of interfaces of your own does is not" in (
        refusal(written(tmp_path, text))
    )


def test_scripts_that_ask_for_programs_and_for_sysctls_go_on(tmp_path: FilePath) -> None:
    text = """
import subprocess
from mininet.net import Mininet
from mininet.topo import SingleSwitchTopo
from mininet.util import errRun, quietRun
assert quietRun("which bwm-ng") and errRun("which iperf")[0] and quietRun("which telnet").strip()
assert b"iperf" in subprocess.check_output(["which", "iperf"])
assert "reno" in quietRun("sysctl -w net.ipv4.tcp_congestion_control=reno")
assert quietRun("ps aux") == ""
Mininet(SingleSwitchTopo(2)).start()
"""
    assert len(read(written(tmp_path, text)).hosts) == 2


def test_a_class_that_is_named_comes_before_a_network_that_the_file_starts(
    tmp_path: FilePath,
) -> None:
    text = """
from mininet.net import Mininet
from mininet.topo import SingleSwitchTopo
class Three(SingleSwitchTopo):
    def build(self, k=3):
        super().build(k)
Mininet(SingleSwitchTopo(2)).start()
"""
    file = written(tmp_path, text)
    assert len(read(file).hosts) == 2
    assert len(read(f"{file}:Three").hosts) == 3


TORUS = "from mininet.topolib import TorusTopo\ntopos = {'torus': lambda: TorusTopo(3, 3)}\n"
EMPTY = """
from mininet.topo import Topo
class Late(Topo):
    def create(self):
        self.addSwitch("s1")
"""
NEEDING = """
from mininet.topo import Topo
class Star(Topo):
    def __init__(self, option, count):
        super().__init__()
topos = {"star": Star, "fat": lambda k: Star(k, k)}
"""
MAIN = """
import argparse
from mininet.net import Mininet
if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--hosts", required=True)
    parser.parse_args()
"""


@pytest.mark.parametrize(
    ("text", "selection", "message"),
    [
        (TORUS, "", "closes a loop, in which switches without a controller flood packets forever"),
        ("print('hello')\n\nclass (\n", "", "cannot be used, line 3: SyntaxError"),
        ("raise SystemExit\n", "", "cannot be used, line 1: SystemExit: it has no message"),
        ("import os\nos._exit(7)\n", "", "ended with status 7 before it had made a topology"),
        ("topos = {'a': 0, 'b': 0}\n", "", "it has a, b; name one, as in mine.py:a"),
        ("topos = {'a': lambda: 3}\n", "", "cannot be used: AttributeError"),
        ("def f(): pass\n", "", "has neither a class derived from Mininet's Topo nor a main part"),
        ("import nothing_there\n", "", f"({sys.executable} -m pip install nothing_there), or lay"),
        ("import mininet.wifi\n", "", "read with the lab's Mininet, which has no such module"),
        ("open('rates.txt')\n", "", "the file is run in its own folder, /"),
        ("print(1)\nraise ValueError('no')\n", "", "ValueError: no; it printed: 1"),
        ("print 'hello'\n", "", "this is Python 2: convert a copy of it ("),
        ("try:\n    pass\nexcept OSError, e:\n    pass\n", "", "this is Python 2"),
        ("if 1:\n        a = 1\n\tb = 2\n", "", "Python 2: convert a copy of it (expand -i -t 8"),
        ("for i in xrange(3): pass\n", "", "'xrange' is not defined; this is Python 2"),
        ("import urllib2\n", "", "No module named 'urllib2'; this is Python 2"),
        (
            EMPTY.replace("create", "build").replace("addS", "add_s"),
            "",
            "2.0 had add_switch: write",
        ),
        (EMPTY, "", "makes nothing in Late: Mininet calls build(), and it adds no node"),
        (NEEDING, ":star,c1", "needs count: give a value of each, as in mine.py:star,c1,count=..."),
        (NEEDING, ":Star", "needs option and count: give a value of each, as in mine.py:Star,opti"),
        (NEEDING, ":fat", "needs k: give a value of each, as in mine.py:fat,k=..."),
        (MAIN, "", "it printed: mine.py: error: the following arguments are required: --hosts"),
        (MAIN, "", "give its arguments behind --, as in './mine.py -- --name=value'"),
        ("import sys\nif not sys.argv[1:]: exit('Usage')\n", "", "behind --, as in './mine.py -- "),
        (MAIN, " -- --hosts=3", "has neither a class derived from Mininet's Topo nor a main part"),
    ],
)
def test_a_file_that_makes_no_topology_for_the_lab_is_refused(
    tmp_path: FilePath, text: str, selection: str, message: str
) -> None:
    assert message in refusal(written(tmp_path, text) + selection)


def test_a_module_above_the_file_is_found_for_the_user(tmp_path: FilePath) -> None:
    (tmp_path / "util").mkdir()
    (tmp_path / "util" / "monitor.py").touch()
    (tmp_path / "experiments").mkdir()
    said = refusal(written(tmp_path, "import util.monitor\n", "experiments/mine.py"))
    assert f"it is in {tmp_path}: lay a link to util there beside the file" in said


def test_a_package_that_lacks_the_module_is_named_as_a_submodule(tmp_path: FilePath) -> None:
    (tmp_path / "util").mkdir()
    said = refusal(written(tmp_path, "import util.monitor\n"))
    assert f"{tmp_path / 'util'} lacks it: if that is a submodule" in said


def test_a_file_that_does_not_end_is_ended(
    tmp_path: FilePath, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(user_topologies, "MOST_S", 1.0)
    file = written(tmp_path, "while True:\n    print('still here')\n")
    assert "has made no topology within 1 s; let it do nothing" in refusal(file)


def is_there(pid: int) -> bool:
    """Whether a process runs."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


FORKING = """
import os, time
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        open("pid", "w").write(str(os.getpid()))
        time.sleep(100)
while not os.path.exists("pid"):
    time.sleep(0.01)
"""


def test_nothing_that_a_file_starts_outlives_its_reading(tmp_path: FilePath) -> None:
    assert "has neither a class" in refusal(written(tmp_path, FORKING))
    assert not is_there(int((tmp_path / "pid").read_text()))


def test_a_file_that_kills_its_parent_is_told_so(tmp_path: FilePath) -> None:
    text = "import os, time\nopen('pid', 'w').write(str(os.getpid()))\nos.kill(os.getppid(), 9)\n"
    file = written(tmp_path, f"{text}time.sleep(100)\n")
    assert "ended with status -9 before it had made a topology" in refusal(file)
    pid, ends_s = int((tmp_path / "pid").read_text()), time.monotonic() + 20
    while is_there(pid) and time.monotonic() < ends_s:
        time.sleep(0.01)
    assert not is_there(pid)


def test_a_file_that_is_not_there_and_a_name_that_is_not_in_it_are_refused() -> None:
    assert "there is no file ./nowhere.py" in refusal("./nowhere.py:Tree,2")
    assert "has no topology huge: it has star, line, tree" in refusal(
        f"{COURSE / 'own_topos.py'}:huge"
    )


def test_what_stands_beside_the_file_is_imported_and_nothing_is_written(
    tmp_path: FilePath,
) -> None:
    (tmp_path / "rates.py").write_text("FAST = 100\n")
    (tmp_path / "slow.py").write_text("from .rates import FAST\nSLOW = FAST // 10\n")
    (tmp_path / "count.txt").write_text("3")
    text = (
        "from mininet.topo import SingleSwitchTopo\nfrom rates import FAST\n"
        "from .slow import SLOW\nprint('made')\nk = int(open('count.txt').read())\n"
        "topos = {'star': lambda: SingleSwitchTopo(k, lopts={'bw': FAST, 'delay': '2ms'})}\n"
    )
    network = read(f"{written(tmp_path, text)}:star")
    assert network.hosts == ("h1", "h2", "h3")
    assert {cable.there.rate_bps for cable in network.cables} == {100_000_000}
    assert sorted(file.name for file in tmp_path.iterdir()) == [
        *("count.txt", "mine.py", "rates.py", "slow.py"),
    ]
