"""Sockets: the TCP connections of a run's flows as the kernel of a site holds them."""

from __future__ import annotations

import struct
from collections.abc import Iterator, Mapping
from typing import Any

from farpath.uses.debug.inside import kernel
from farpath.uses.debug.inside.inferiors import Site, Sites
from farpath.uses.debug.inside.scoreboard import Segment

#: enum tcp_ca_state (include/uapi/linux/tcp.h).
CA_STATES = ("Open", "Disorder", "CWR", "Recovery", "Loss")
#: States of connections, by number (include/net/tcp_states.h).
STATES = (
    *("", "ESTABLISHED", "SYN_SENT", "SYN_RECV", "FIN_WAIT1", "FIN_WAIT2", "TIME_WAIT", "CLOSE"),
    *("CLOSE_WAIT", "LAST_ACK", "LISTEN", "CLOSING", "NEW_SYN_RECV"),
)
#: These have no struct tcp_sock.
SMALL_STATES = ("TIME_WAIT", "NEW_SYN_RECV")
#: ``icsk_pending`` (include/net/inet_connection_sock.h).
PENDING = {0: "", 1: "retransmission", 3: "probe of a closed window", 5: "loss probe", 6: "RACK"}
#: Fields of struct tcp_sock that are shown, in this order, by their name here.
FIELDS = {
    "snd_cwnd": "snd_cwnd",
    "snd_ssthresh": "snd_ssthresh",
    "packets_out": "packets_out",
    "sacked_out": "sacked_out",
    "lost_out": "lost_out",
    "retrans_out": "retrans_out",
    "snd_wnd_bytes": "snd_wnd",
    "mss_bytes": "mss_cache",
    "data_segments_out": "data_segs_out",
    "retransmits": "total_retrans",
    "delivered": "delivered",
    "bytes_sent": "bytes_sent",
    "bytes_acked": "bytes_acked",
    "bytes_received": "bytes_received",
}
#: No slow start threshold yet (TCP_INFINITE_SSTHRESH, include/net/tcp.h).
INFINITE = 0x7FFFFFFF
SEQUENCES = 1 << 32


def connections(site: Site) -> Iterator[Any]:
    """Yield a pointer to struct sock for each connection of a site; its inferior is selected."""
    import gdb

    table = gdb.parse_and_eval("tcp_hashinfo")
    count = int(table["ehash_mask"]) + 1
    heads = struct.unpack(f"<{count}Q", site.read(int(table["ehash"]), 8 * count))
    for head in heads:
        for sock in kernel.of_nodes(head, "struct sock", "__sk_common.skc_nulls_node"):
            if state_of(sock) not in SMALL_STATES:
                yield sock


def state_of(sock: Any) -> str:
    """Return the name of a connection's state."""
    return STATES[int(sock["__sk_common"]["skc_state"])]


def ports_of(sock: Any) -> tuple[int, int]:
    """Return the port at this end and that at the other."""
    common = sock["__sk_common"]
    there = int(common["skc_dport"])
    return int(common["skc_num"]), (there >> 8) | (there & 0xFF) << 8


def as_tcp(sock: Any) -> Any:
    """Return a socket as a pointer to struct tcp_sock."""
    return sock.cast(kernel.type_of("struct tcp_sock").pointer())


def _created(sock: Any) -> int:
    """Return a number by which connections of a guest stand in the order of their creation."""
    return int(sock["sk_ino"])


def data_connection(site: Site, flow: Mapping[str, Any], sending: bool) -> Any | None:
    """Return the connection that carries a flow's data at a site; None if there is none yet.

    ``sending``: whether the sender's end is meant. Of several to one port, as iperf3 has them, the
    last one carries the data.
    """
    found = [sock for sock in connections(site) if _is_end_of(sock, flow, sending)]
    return max(found, key=_created, default=None)


def _is_end_of(sock: Any, flow: Mapping[str, Any], sending: bool) -> bool:
    return ports_of(sock)[1 if sending else 0] == int(flow["port"])


def sending_site(sites: Sites, flow: Mapping[str, Any]) -> Site:
    """Return the site of a flow's sender."""
    return next(site for site in sites.all if site.number == flow["sender_site"])


def described(sock: Any, jiffies: int) -> dict[str, Any]:
    """Return what is shown of a connection, with units in names; None stands for infinite."""
    tcp, here, there = as_tcp(sock), *ports_of(sock)
    connection = tcp["inet_conn"]
    shown: dict[str, Any] = {
        "address": hex(int(sock)),
        "port": here,
        "other_port": there,
        "state": state_of(sock),
        "congestion_control": kernel.text_of(connection["icsk_ca_ops"]["name"]),
        "ca_state": CA_STATES[int(connection["icsk_ca_state"])],
        **{name: int(tcp[field]) for name, field in FIELDS.items()},
    }
    if shown["snd_ssthresh"] >= INFINITE:
        shown["snd_ssthresh"] = None
    shown["in_flight"] = (
        shown["packets_out"] - shown["sacked_out"] - shown["lost_out"] + shown["retrans_out"]
    )
    shown["snd_una"], shown["snd_nxt"] = int(tcp["snd_una"]), int(tcp["snd_nxt"])
    shown["unsent_bytes"] = (int(tcp["write_seq"]) - shown["snd_nxt"]) % SEQUENCES
    shown["srtt_ms"] = int(tcp["srtt_us"]) / 8 / 1e3
    shown["rttvar_ms"] = int(tcp["rttvar_us"]) / 4 / 1e3
    shown["pacing_rate_bps"] = 8 * int(sock["sk_pacing_rate"])
    shown |= _timers(sock, connection, jiffies)
    return shown


def _timers(sock: Any, connection: Any, jiffies: int) -> dict[str, Any]:
    """Return a connection's timers: in how many ms each ends, None where it does not run."""
    timers = {
        "retransmit_timer_ms": sock["tcp_retransmit_timer"],
        "delayed_ack_timer_ms": connection["icsk_delack_timer"],
        "keepalive_timer_ms": connection["icsk_keepalive_timer"],
    }
    pending = int(connection["icsk_pending"])
    return {
        "rto_ms": int(connection["icsk_rto"]),
        "pending": PENDING.get(pending, str(pending)),
        "backoff": int(connection["icsk_backoff"]),
        **{name: _ends_in_ms(timer, jiffies) for name, timer in timers.items()},
    }


def _ends_in_ms(timer: Any, jiffies: int) -> int | None:
    """Return when a timer ends, in ms from now: the lab's kernels have a tick in each."""
    if not int(timer["entry"]["pprev"]):
        return None
    return int(timer["expires"]) - jiffies


def segments(sock: Any) -> list[Segment]:
    """Return what a connection has sent and no acknowledgement covers, by sequence number."""
    tcp = as_tcp(sock)
    start = int(tcp["snd_una"])
    block = kernel.type_of("struct tcp_skb_cb").pointer()
    found = []
    for skb in kernel.of_tree(sock["tcp_rtx_queue"], "struct sk_buff", "rbnode"):
        control = skb["cb"].address.cast(block)
        sequence, end = int(control["seq"]), int(control["end_seq"])
        found.append(
            Segment(
                (sequence - start) % SEQUENCES, (end - start) % SEQUENCES, int(control["sacked"])
            )
        )
    return found
