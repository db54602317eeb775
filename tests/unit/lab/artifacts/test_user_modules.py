"""Sources of a user's kernel module: which are found, and how their text changes."""

from __future__ import annotations

import re
from pathlib import Path as FilePath

import pytest

from farpath.base.errors import BadInputError
from farpath.lab.artifacts.user_modules.adaptation import Source, adapted, compat_options
from farpath.lab.artifacts.user_modules.linux_changes import CHANGES, advice_on, explained
from farpath.lab.artifacts.user_modules.module_sources import COMPAT, find_sources, write_copy

OPS = "static struct tcp_congestion_ops mine = {\n\t%s\n};\n"


@pytest.fixture
def linux(tmp_path: FilePath) -> FilePath:
    """The source of a kernel with one header, in which little is declared."""
    headers = tmp_path / "linux" / "include" / "net"
    headers.mkdir(parents=True)
    (headers / "tcp.h").write_text(
        "/* prandom_u32_max */\nu32 tcp_slow_start(struct tcp_sock *tp, u32 acked);\n"
        "void (*cwnd_event_tx_start)(struct sock *sk);\n"
    )
    return tmp_path / "linux"


def written(linux: FilePath, folder: FilePath, name: str = "mine") -> dict[str, str] | None:
    """The copy of the module of a folder, by names of files; None if it needs none."""
    copy = folder / "copy"
    copy.mkdir()
    missing = write_copy(find_sources(folder, "./mine"), name, linux, copy)
    if missing is None:
        return None
    return {file.name: file.read_text() for file in copy.rglob("*") if file.is_file()}


@pytest.mark.parametrize(
    ("ops", "name"),
    [
        ('.name = "mine"', "mine"),
        (".name\t\t= MINE,", "macro"),
        ('/* .name = "old", */ .name = "new"', "new"),
        (".name = other", ""),
    ],
)
def test_the_name_that_a_module_registers_is_read_from_its_ops(ops: str, name: str) -> None:
    source = Source('#define MINE "macro"\n' + OPS % ops)
    assert [each.name for each in source.ops] == [name]


def test_the_name_changes_and_lines_keep_their_numbers() -> None:
    text = "int a;\n" + OPS % '.name = "cubic", /* "cubic" */' + 'char *b = "cubic";\n'
    lines = adapted(Source(text), "tcp_cubic.c", "own_cubic", (), "").splitlines()
    at = lines.index('#line 2 "tcp_cubic.c"')
    assert lines[at + 1 :] == [
        "static struct tcp_congestion_ops mine = {",
        '\t.name = "own_cubic", /* "cubic" */',
        "};",
        'char *b = "cubic";',
    ]


@pytest.mark.parametrize(
    ("member", "parameters", "macro"),
    [
        ("cong_control", "struct sock *sk, const struct rate_sample *rs", "FIT_cong_control"),
        ("cong_control", "struct sock *sk, u32 a, int f, const struct rate_sample *rs", ""),
        (
            "cong_control",
            "struct sock *sk,\n#if NEW\nu32 a, int f,\n#endif\nconst struct rate_sample *rs",
            "FIT_cong_control",
        ),
        ("pkts_acked", "struct sock *sk, u32 packets, s32 rtt_us", "FIT_pkts_acked"),
        ("pkts_acked", "struct sock *sk, const struct ack_sample *sample", ""),
        ("cong_avoid", "struct sock *sk, u32 ack, u32 acked", ""),
        ("cong_avoid", "struct sock *sk, u32 ack, u32 in_flight", "FIT_cong_avoid_in_flight"),
        ("cong_avoid", "struct sock *sk, u32 ack, u32 acked, u32 in_flight", "FIT_cong_avoid"),
        ("tso_segs_goal", "struct sock *sk", "FIT_tso_segs_goal"),
        ("get_info", "struct sock *sk, u32 ext, struct sk_buff *skb", "FIT_get_info"),
        ("set_state", "struct sock *sk, u8 state", ""),
    ],
)
def test_a_function_fits_by_a_macro_where_its_parameters_may_be_older(
    member: str, parameters: str, macro: str
) -> None:
    text = f"static void f({parameters})\n{{\n}}\n" + OPS % f".{member} = f,"
    changed = adapted(Source(text), "a.c", "", (), "")
    assert re.findall(r"^(FIT_\w+)\(f\)$", changed, re.MULTILINE) == ([macro] if macro else [])
    assert ("__builtin_choose_expr(IS_OLD_" in changed) is bool(macro)
    assert (changed == text) is not bool(macro)


def test_functions_that_fit_stand_between_the_conditions_of_the_ops() -> None:
    text = OPS % "\n#ifdef A\n.cong_control = f,\n#else\n.cong_control = g,\n#endif\n"
    before, _, after = adapted(Source(text), "a.c", "", (), "").partition("#line 1")
    kept = [line for line in before.splitlines() if "FIT_cong_control_" not in line]
    assert kept == [
        "#ifdef A",
        "FIT_cong_control(f)",
        "#endif",
        "#else",
        "FIT_cong_control(g)",
        "#endif",
        "#endif",
    ]
    assert "IS_OLD_cong_control(g), cong_control_g, g)" in after


def test_a_module_hears_of_the_start_of_sending_where_it_knows_of_it() -> None:
    ops = OPS % ".cwnd_event = f, .ssthresh = g, .undo_cwnd = h,"
    assert adapted(Source(ops), "a.c", "", (), "") == ops
    text = "int k = CA_EVENT_TX_START;\n" + ops
    assert "AND_cwnd_event_tx_start(f) .cwnd_event = f" in adapted(Source(text), "a.c", "", (), "")


@pytest.mark.parametrize(
    ("code", "by"),
    [
        ("a = tcp_time_stamp - b;", "a = old_tcp_time_stamp() - b;"),
        ("a = tcp_time_stamp(tp);", "a = tcp_time_stamp(tp);"),
        ("ca->tcp_time_stamp = 1;", "ca->tcp_time_stamp = 1;"),
        ("struct skb_mstamp a; a.v64 = 0;", "u64 a; a = 0;"),
        (
            "struct skb_mstamp *p; t = tp->x.stamp_jiffies;",
            "u64 *p; t = old_stamp_jiffies(tp->x);",
        ),
        ("a->stamp_jiffies = 1;", "a->stamp_jiffies = 1;"),
        ("k = ktime_get().tv64;", "k = ktime_get();"),
        ("EXPORT_SYMBOL_GPL(f);", " " * 21),
    ],
)
def test_older_spellings_become_those_of_the_compat_header(code: str, by: str) -> None:
    assert adapted(Source(code), "a.c", "", (), "") == by


def test_a_function_of_a_name_that_linux_has_too_gets_another() -> None:
    text = "#include <net/tcp.h>\n#ifndef tcp_x\nstatic u32 tcp_x(int a)\n{\n}\n#endif\nb(tcp_x);\n"
    changed = adapted(Source(text), "a.c", "", (), "u32 tcp_x(struct sock *sk);")
    assert "#ifndef tcp_x\nstatic u32 own_tcp_x(int a)\n{\n}\n#endif\nb(own_tcp_x);\n" in changed
    assert adapted(Source(text), "a.c", "", (), "u32 tcp_xy(void);") == text


@pytest.mark.parametrize(
    ("code", "options"),
    [
        ("prandom_u32_max(3)", {"LACKS_prandom_u32_max"}),
        ("/* prandom_u32_max(3) */", set()),
        ("#define prandom_u32_max(a) (a)\nprandom_u32_max(3)", set()),
        ("static u32 prandom_u32_max(u32 a)\n{\n}\n", set()),
        ("tcp_slow_start(tp)", {"CALLS_tcp_slow_start_1"}),
        ("tcp_slow_start(tp, f(a, b))", set()),
        ("tcp_is_cwnd_limited(sk, f(a, b))", {"CALLS_tcp_is_cwnd_limited_2"}),
        ("BTF_SET8_START(ids)", {"USES_BTF_SET8_START"}),
    ],
)
def test_the_compat_header_offers_what_a_module_uses_and_the_kernel_lacks(
    code: str, options: set[str]
) -> None:
    headers = "tcp_slow_start tcp_is_cwnd_limited cwnd_event_tx_start"
    assert compat_options(Source(code), COMPAT.read_text(), headers) == options


def test_a_module_that_needs_nothing_has_no_copy(linux: FilePath, tmp_path: FilePath) -> None:
    folder = tmp_path / "mine"
    folder.mkdir()
    (folder / "tcp_mine.c").write_text("int x;\n" + OPS % '.name = "mine"')
    assert written(linux, folder) is None


def test_headers_beside_it_and_what_a_module_includes_are_copied(
    linux: FilePath, tmp_path: FilePath
) -> None:
    folder = tmp_path / "mine"
    (folder / "lib").mkdir(parents=True)
    (folder / "tcp_mine.c").write_text(
        '#include "lib/part.c"\n#include "made.h"\n' + OPS % '.name = "other"'
    )
    (folder / "lib" / "part.c").write_text('#include "../own.h"\n')
    (folder / "own.h").write_text("")
    (folder / "unused.c").write_text("")
    copy = written(linux, folder)
    assert copy is not None
    assert set(copy) == {"tcp_mine.c", "part.c", "own.h", "Kbuild", COMPAT.name}
    assert "made.h is not beside the module: it is taken for empty" in copy["tcp_mine.c"]
    assert copy["Kbuild"].splitlines()[1] == "obj-m := tcp_mine.o"


def test_a_makefile_with_several_objects_is_followed(linux: FilePath, tmp_path: FilePath) -> None:
    folder = tmp_path / "mine"
    folder.mkdir()
    (folder / "ops.c").write_text(OPS % '.name = "mine"')
    (folder / "more.c").write_text("")
    (folder / "Makefile").write_text("obj-m += m.o\nm-objs := ops.o more.o\n")
    copy = written(linux, folder)
    assert copy is not None
    assert set(copy) == {"ops.c", "more.c", "Kbuild", "Kbuild.user"}


@pytest.mark.parametrize(
    ("files", "given", "complaint"),
    [
        (["a.c"], "", r"no source \(\*.c\) there defines a struct tcp_congestion_ops"),
        (["tcp_a.c", "tcp_b.c"], "", "it holds several modules: tcp_a.c, tcp_b.c; give one source"),
    ],
)
def test_a_directory_has_one_module(
    tmp_path: FilePath, files: list[str], given: str, complaint: str
) -> None:
    for name in files:
        (tmp_path / name).write_text(OPS % "" if name.startswith("tcp_") else "")
    with pytest.raises(BadInputError, match=complaint):
        find_sources(tmp_path / given, "./mine")


def test_a_makefile_beside_a_source_counts_only_if_it_names_it(tmp_path: FilePath) -> None:
    source = tmp_path / "tcp_a.c"
    source.write_text(OPS % "")
    makefile = tmp_path / "Makefile"
    makefile.write_text("# obj-m := tcp_a.o\nobj-m := tcp_b.o\n")
    assert find_sources(source, "").makefile is None
    makefile.write_text("obj-m := tcp_b.o tcp_a.o\n")
    assert find_sources(source, "").makefile == makefile
    assert find_sources(makefile, "").main == source


@pytest.mark.parametrize(
    ("line", "advice"),
    [
        (
            "tcp_a.c:7:9: error: 'const struct rate_sample' has no member named 'tx_in_flight'",
            "rate_sample->tx_in_flight: Google's kernel",
        ),
        (
            "tcp_a.c:7:9: error: 'struct tcp_sock' has no member named 'guess'",
            "a patched kernel has guess in struct tcp_sock",
        ),
        ("a.c:2:1: fatal error: Linux/mm.h: No such file or directory", "is Linux/mm.h meant so"),
        (
            'ERROR: modpost: "leo_init" [tcp_leo.ko] undefined!',
            "this kernel gives modules no leo_init",
        ),
        ("a.c:3:1: error: implicit declaration of function 'setup_timer'", "timer_setup since"),
        ("a.c:3:1: error: expected ';' before '}' token", ""),
    ],
)
def test_a_compilers_line_is_explained_by_the_change_of_linux(line: str, advice: str) -> None:
    assert advice in advice_on(line)
    assert bool(advice_on(line)) is bool(advice)


def test_an_explanation_has_the_users_line_and_is_given_once() -> None:
    line = "tcp_a.c:{}:9: error: 'struct rate_sample' has no member named 'lost'"
    lines = list(explained([line.format(7), line.format(8)]))
    assert len(lines) == 3
    assert lines[1].startswith("  tcp_a.c:7: rate_sample->lost: ")
    assert len(CHANGES) == len({change.pattern for change in CHANGES})
