"""Preflight: everything a lab needs is checked, and everything missing named at once."""

from __future__ import annotations

import gzip
import os
from pathlib import Path as FilePath

import pytest

from farpath.base.errors import MachineLacksError
from farpath.lab import host, preflight
from farpath.lab.artifacts.images import Images
from farpath.lab.host_kernel import BACKGROUND_MODULES, DROPPER_MODULES, TRACE_MODULES, lab_modules
from farpath.lab.preflight import (
    FURTHER_WORDS,
    MISSING,
    OK,
    POOR,
    Check,
    Modules,
    further_checks,
    module_checks,
    word_checks,
)
from farpath.planning.request import RunRequest
from farpath.programs.catalog import resolve_stack

RELEASE = "6.12.1-test"


def kernel_root(
    root: FilePath, loadable: str = "", built_in: str = "", config: str = "", available: str = ""
) -> FilePath:
    """A root directory with what a kernel and its packages tell of its modules."""
    folder = root / "lib/modules" / RELEASE
    folder.mkdir(parents=True)
    (folder / "modules.dep").write_text(loadable)
    (folder / "modules.builtin").write_text(built_in)
    (root / "proc/sys/net/ipv4").mkdir(parents=True)
    (root / "proc/sys/net/ipv4/tcp_available_congestion_control").write_text(available)
    if config:
        (root / "proc/config.gz").write_bytes(gzip.compress(config.encode()))
    return root


def verdicts(root: FilePath, *stacks: str) -> dict[str, Check]:
    checks = module_checks(
        Modules.of(root, RELEASE),
        RELEASE,
        [resolve_stack(stack) for stack in stacks],
        lambda stack: root / f"{stack.module}.ko",
    )
    return {check.name.removeprefix("module "): check for check in checks}


def test_modules_are_found_loadable_built_in_configured_or_registered(tmp_path: FilePath) -> None:
    root = kernel_root(
        tmp_path,
        loadable="kernel/net/sched/sch_netem.ko.xz:\nkernel/net/openvswitch/openvswitch.ko: x.ko\n",
        built_in="kernel/drivers/net/veth.ko\n",
        config="CONFIG_NET_SCH_TBF=y\n# CONFIG_HZ_100 is not set\n",
        available="reno cubic htcp",
    )
    checks = verdicts(root, "htcp", "bic")
    assert {name: check.verdict for name, check in checks.items()} == {
        "veth": OK, "openvswitch": OK, "sch_netem": OK, "sch_tbf": OK, "tcp_htcp": OK,
        "tcp_bic": MISSING,
    }  # fmt: skip


def test_a_kernel_without_a_module_is_named_with_the_option(tmp_path: FilePath) -> None:
    root = kernel_root(tmp_path, config="CONFIG_VETH=y\n# CONFIG_NET_SCH_NETEM is not set\n")
    checks = verdicts(root, "highspeed")
    assert "CONFIG_NET_SCH_NETEM" in checks["sch_netem"].finding
    assert RELEASE in checks["sch_netem"].finding
    assert "CONFIG_TCP_CONG_HSTCP" in checks["tcp_highspeed"].finding


def test_a_container_without_the_machines_modules_is_told_so(tmp_path: FilePath) -> None:
    root = kernel_root(tmp_path)
    assert "under /lib/modules" in verdicts(root)["openvswitch"].finding
    assert "make experiment LAB=host" in verdicts(root)["openvswitch"].remedy


def test_a_stack_of_farpaths_own_needs_its_module_for_this_kernel(tmp_path: FilePath) -> None:
    root = kernel_root(tmp_path)
    assert verdicts(root, "htcp_2004")["tcp_htcp_2004"].verdict == MISSING
    assert (
        f"KDIR=/lib/modules/{RELEASE}/build" in verdicts(root, "htcp_2004")["tcp_htcp_2004"].remedy
    )
    (root / "tcp_htcp_2004.ko").write_text("")
    assert verdicts(root, "htcp_2004")["tcp_htcp_2004"].verdict == OK


def test_stacks_that_every_kernel_has_need_nothing(tmp_path: FilePath) -> None:
    names = set(verdicts(kernel_root(tmp_path), "reno", "udt"))
    assert names == {"veth", "openvswitch", "sch_netem", "sch_tbf"}


def test_the_configuration_is_that_of_boot_where_proc_has_none(tmp_path: FilePath) -> None:
    assert preflight.kernel_config(tmp_path, RELEASE) is None
    (tmp_path / "boot").mkdir()
    (tmp_path / f"boot/config-{RELEASE}").write_text("CONFIG_HZ=1000\n")
    assert preflight.kernel_config(tmp_path, RELEASE) == "CONFIG_HZ=1000"


@pytest.mark.parametrize(
    ("bits", "verdict"), [("000001ffffffffff", OK), ("00000000a80425fb", MISSING)]
)
def test_capabilities_are_those_of_a_privileged_container(bits: str, verdict: str) -> None:
    check = preflight.capability_check(f"Name:\tx\nCapEff:\t{bits}\n")
    assert check.verdict == verdict
    assert ("SYS_MODULE" in check.finding) is True


@pytest.mark.parametrize(
    ("check", "verdict"),
    [
        (preflight.hz_check(1000), OK),
        (preflight.hz_check(250), OK),
        (preflight.hz_check(100), POOR),
        (preflight.high_resolution_check(1e-9), OK),
        (preflight.high_resolution_check(4e-3), MISSING),
        (preflight.clock_check("tsc"), OK),
        (preflight.clock_check("kvm-clock"), OK),
        (preflight.clock_check("arch_sys_counter"), OK),
        (preflight.clock_check("hpet"), POOR),
        (preflight.clock_check("acpi_pm"), POOR),
        (preflight.governor_check([]), OK),
        (preflight.governor_check(["performance", "performance"]), OK),
        (preflight.governor_check(["performance", "powersave"]), POOR),
        (preflight.cores_check(1), POOR),
        (preflight.cores_check(2), OK),
        (preflight.memory_check("MemTotal: 9 kB\nMemAvailable:    1024 kB\n", 1 << 20), OK),
        (preflight.memory_check("MemAvailable:    1023 kB\n", 1 << 20), MISSING),
        (preflight.kernel_check("6.6.0"), OK),
        (preflight.kernel_check("6.12.107+deb13-amd64"), OK),
        (preflight.kernel_check("7.0-rc1"), OK),
        (preflight.kernel_check("5.15.0-91-generic"), MISSING),
    ],
    ids=str,
)
def test_each_thing_is_judged_by_what_was_found(check: Check, verdict: str) -> None:
    assert check.verdict == verdict
    assert bool(check.remedy) == (verdict != OK)


def test_everything_missing_is_named_in_one_line_with_the_remedy() -> None:
    checks = [
        Check("crun", MISSING, "not found", preflight.CONTAINER),
        Check("ticks", POOR, "HZ=100", "more"),
        Check("module sch_netem", MISSING, "this kernel has no CONFIG_NET_SCH_NETEM", "another"),
        Check("root", OK, "user 0"),
    ]
    with pytest.raises(MachineLacksError) as caught:
        preflight.require(checks)
    message = caught.value.message
    for word in ("crun", "sch_netem", "make experiment LAB=host", "farpath preflight --lab=host"):
        assert word in message
    assert "ticks" not in message
    assert "\n" not in message


def test_what_is_poor_becomes_a_warning() -> None:
    (warning,) = preflight.require([Check("ticks", POOR, "HZ=100", "CONFIG_HZ=250 or more")])
    assert "ticks: HZ=100; CONFIG_HZ=250 or more" in warning


def test_the_table_has_one_line_for_each_thing() -> None:
    lines = preflight.table([Check("a", OK, "x"), Check("longer", POOR, "y", "do z")]).splitlines()
    assert lines == ["a       ok       x", "longer  poor     y: do z"]


def test_this_machines_ticks_are_those_of_its_configuration() -> None:
    config = preflight.kernel_config(FilePath("/"), os.uname().release)
    if config is None:
        pytest.skip("this machine's kernel does not tell its configuration")
    assert f"CONFIG_HZ={preflight.hz_here()}\n" in config


def test_the_virtual_labs_checks_name_what_is_missing(
    monkeypatch: pytest.MonkeyPatch, tmp_path: FilePath
) -> None:
    from farpath.lab.artifacts import images

    monkeypatch.setattr(preflight, "find_images", lambda: images.find_images(tmp_path))
    checks = {check.name: check for check in preflight.virtual_checks()}
    assert checks["images"].verdict == MISSING
    assert "make setup" in checks["images"].finding


#: A kernel with all that only some runs need, as modules.
FURTHER = "".join(
    f"kernel/{name}.ko:\n" for name in (*DROPPER_MODULES, *TRACE_MODULES, *BACKGROUND_MODULES)
)
HOOKS = "CONFIG_NETFILTER_INGRESS=y\nCONFIG_NF_TABLES_NETDEV=y\n"


@pytest.fixture
def with_tools(tmp_path: FilePath, monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine of RELEASE on which nft, socat and traceroute are installed."""
    for tool in ("nft", "socat", "traceroute"):
        (tmp_path / tool).touch(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    system = os.uname_result(("Linux", "x", RELEASE, "#1", "x86_64"))
    monkeypatch.setattr(os, "uname", lambda: system)


@pytest.mark.usefixtures("with_tools")
def test_what_a_stock_kernel_has_is_enough_for_every_word(tmp_path: FilePath) -> None:
    root = kernel_root(tmp_path, loadable=FURTHER, config=HOOKS)
    (root / "proc/sys/net/ipv6").mkdir()
    checks = further_checks(root)
    assert {check.verdict for check in checks} == {OK}
    assert {check.name.rpartition(", for ")[2] for check in checks} == set(FURTHER_WORDS)


@pytest.mark.usefixtures("with_tools")
@pytest.mark.parametrize(
    ("word", "lacking"),
    [
        ("DROP", "nf_tables"), ("DROP", "nft_numgen"), ("TRACE", "inet_diag"),
        ("TRACE", "tcp_diag"), ("BACKGROUND", "sch_fq"),
    ],
)  # fmt: skip
def test_a_module_that_only_a_word_needs_is_named_for_that_word_alone(
    tmp_path: FilePath, word: str, lacking: str
) -> None:
    loadable = FURTHER.replace(f"kernel/{lacking}.ko:\n", "")
    root = kernel_root(tmp_path, loadable=loadable, config=HOOKS)
    (root / "proc/sys/net/ipv6").mkdir()
    missing = {
        (each, check.name)
        for each in FURTHER_WORDS
        for check in word_checks(each, root)
        if check.verdict == MISSING
    }
    assert missing == {(word, f"module {lacking}")}
    (poor,) = [check for check in further_checks(root) if check.verdict == POOR]
    assert poor.name == f"module {lacking}, for {word}"


@pytest.mark.usefixtures("with_tools")
def test_a_kernel_without_the_hook_of_droppers_is_named_by_its_option(tmp_path: FilePath) -> None:
    root = kernel_root(tmp_path, loadable=FURTHER, config="CONFIG_NETFILTER_INGRESS=y\n")
    (missing,) = [check for check in word_checks("DROP", root) if check.verdict == MISSING]
    assert missing.name == "CONFIG_NF_TABLES_NETDEV"


@pytest.mark.usefixtures("with_tools")
def test_tools_that_only_a_word_needs_are_named(
    tmp_path: FilePath, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = kernel_root(tmp_path, loadable=FURTHER, config=HOOKS)
    monkeypatch.setenv("PATH", "/nowhere")
    for word, tool in {"DROP": "nft", "BACKGROUND": "socat"}.items():
        (missing,) = [check for check in word_checks(word, root) if check.verdict == MISSING]
        assert missing.name == tool
        assert "install the package" in missing.remedy


@pytest.mark.parametrize(
    ("words", "needed"),
    [
        ({}, set()),
        ({"drop": "every:1000"}, {"DROP"}),
        ({"trace": "10ms"}, {"TRACE"}),
        ({"background": "20%"}, {"BACKGROUND"}),
        ({"ip": "6", "trace": "10ms"}, {"IP=6", "TRACE"}),
        ({"topology": "parking-lot:2", "schedule": "together"}, set()),
    ],
)
def test_a_run_needs_what_its_words_do_and_nothing_else(
    monkeypatch: pytest.MonkeyPatch, words: dict[str, str], needed: set[str]
) -> None:
    plan = RunRequest(rtt="40ms", lab="host", **words).plan()
    monkeypatch.setattr(preflight, "word_checks", lambda word: [Check(word, OK, "")])
    root = FilePath("/")
    images = Images(root, root, root, root, root, manifests={})
    assert {check.name for check in host.checks_of(plan, images)} & set(FURTHER_WORDS) == needed
    further = {*DROPPER_MODULES, *TRACE_MODULES, *BACKGROUND_MODULES} & set(lab_modules(plan))
    assert bool(further) == bool(needed - {"IP=6"})


def test_a_kernel_without_ipv6_lacks_what_a_run_over_it_needs(tmp_path: FilePath) -> None:
    assert preflight.ipv6_check(tmp_path).verdict == preflight.MISSING
    (tmp_path / "proc/sys/net/ipv6").mkdir(parents=True)
    assert preflight.ipv6_check(tmp_path).verdict == preflight.OK
