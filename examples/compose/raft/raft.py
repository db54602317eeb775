"""A small Raft over asyncio: elections and a replicated counter (Ongaro and Ousterhout, 2014).

``raft.py ID PEER...`` runs a node; ``raft.py client NODE...`` adds to the counter and reports it.
A node answers JSON lines on port 7000. The log holds numbers; the counter is their sum. The client
asks again where no answer comes. A node that was told ``ONCE=yes`` knows a number that it has in
its log, and any other adds it a second time.
"""

from __future__ import annotations

import asyncio
import json
import os
import random
import sys

PORT = 7000
HEARTBEAT_S, ELECTION_S, PEER_S, CLIENT_S = 0.25, (1.5, 3.0), 1.0, 4.0
ONCE = os.environ.get("ONCE") == "yes"


async def ask(host: str, message: dict, limit_s: float = PEER_S) -> dict | None:
    """Send one message and return the answer; None if none comes in time."""
    try:
        async with asyncio.timeout(limit_s):
            reader, writer = await asyncio.open_connection(host, PORT)
            writer.write(json.dumps(message).encode() + b"\n")
            line = await reader.readline()
            writer.close()
            return json.loads(line)
    except (OSError, TimeoutError, ValueError):
        return None


class Node:
    """A node: its log, its term, and what it is in it."""

    def __init__(self, name: str, peers: list[str]) -> None:
        self.name, self.peers = name, peers
        self.term, self.voted, self.role, self.leader = 0, None, "follower", None
        self.log: list[tuple[int, int]] = []
        self.committed = 0
        self.next: dict[str, int] = {}
        self.matched: dict[str, int] = {}
        self.heard = asyncio.Event()
        self.changed = asyncio.Condition()

    def step_down(self, term: int) -> None:
        """Follow whoever leads a term, which may be a new one."""
        if term > self.term:
            self.term, self.voted = term, None
        self.role = "follower"

    def answer_vote(self, m: dict) -> dict:
        """Vote for the first candidate of a term whose log is no shorter (section 5.4.1)."""
        if m["term"] > self.term:
            self.step_down(m["term"])
        last = (self.log[-1][0] if self.log else 0, len(self.log))
        granted = (
            m["term"] == self.term
            and self.voted in (None, m["name"])
            and (m["last"][0], m["last"][1]) >= last
        )
        if granted:
            self.voted = m["name"]
            self.heard.set()
        return {"term": self.term, "granted": granted}

    def answer_append(self, m: dict) -> dict:
        """Take entries of a leader behind one that both have (section 5.3)."""
        if m["term"] < self.term:
            return {"term": self.term, "ok": False}
        self.step_down(m["term"])
        self.leader = m["name"]
        self.heard.set()
        at = m["at"]
        if at > len(self.log) or (at and self.log[at - 1][0] != m["before"]):
            return {"term": self.term, "ok": False}
        entries = [tuple(entry) for entry in m["entries"]]
        for place, entry in enumerate(entries, start=at):
            if place < len(self.log) and self.log[place][0] != entry[0]:
                del self.log[place:]
            if place >= len(self.log):
                self.log.append(entry)
        self.committed = max(self.committed, min(m["committed"], at + len(entries)))
        return {"term": self.term, "ok": True, "length": at + len(entries)}

    async def answer_add(self, m: dict) -> dict:
        """Add a number to the log, and wait until it is committed."""
        if self.role != "leader":
            return {"ok": False, "leader": self.leader}
        values = [value for _, value in self.log]
        if not ONCE or m["value"] not in values:
            self.log.append((self.term, m["value"]))
            values.append(m["value"])
        length, term = values.index(m["value"]) + 1, self.term
        try:
            async with asyncio.timeout(3.0), self.changed:
                await self.changed.wait_for(lambda: self.committed >= length or self.term != term)
        except TimeoutError:
            return {"ok": False, "leader": None}
        return {"ok": self.term == term, "leader": self.name}

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer one message."""
        m = json.loads(await reader.readline())
        if m["kind"] == "vote":
            answer = self.answer_vote(m)
        elif m["kind"] == "append":
            answer = self.answer_append(m)
        elif m["kind"] == "add":
            answer = await self.answer_add(m)
        else:
            counter = sum(value for _, value in self.log[: self.committed])
            answer = {"counter": counter, "term": self.term, "role": self.role}
        writer.write(json.dumps(answer).encode() + b"\n")
        await writer.drain()
        writer.close()

    async def replicate(self, peer: str, term: int) -> None:
        """Send a peer what it lacks, as long as this node leads a term."""
        while self.role == "leader" and self.term == term:
            at = self.next[peer]
            message = {
                "kind": "append",
                "name": self.name,
                "term": term,
                "at": at,
                "before": self.log[at - 1][0] if at else 0,
                "entries": self.log[at : at + 50],
                "committed": self.committed,
            }
            answer = await ask(peer, message)
            if answer and answer["term"] > self.term:
                self.step_down(answer["term"])
                self.heard.set()
            elif answer and answer["ok"]:
                self.next[peer] = self.matched[peer] = max(self.matched[peer], answer["length"])
                await self.commit()
            elif answer:
                self.next[peer] = max(0, at - 1)
            await asyncio.sleep(HEARTBEAT_S)

    async def commit(self) -> None:
        """Commit what a majority has of this term (section 5.4.2)."""
        lengths = sorted([len(self.log), *self.matched.values()])
        agreed = lengths[(len(lengths) - 1) // 2]
        if agreed > self.committed and self.log[agreed - 1][0] == self.term:
            self.committed = agreed
        async with self.changed:
            self.changed.notify_all()

    async def elect(self) -> None:
        """Ask all peers for their votes, and lead if a majority gives them."""
        self.role, self.leader = "candidate", None
        self.term += 1
        self.voted, term = self.name, self.term
        last = (self.log[-1][0] if self.log else 0, len(self.log))
        message = {"kind": "vote", "name": self.name, "term": term, "last": last}
        answers = await asyncio.gather(*(ask(peer, message) for peer in self.peers))
        votes = 1 + sum(bool(one and one["granted"]) for one in answers)
        if self.role == "candidate" and self.term == term and 2 * votes > len(self.peers) + 1:
            print(f"{self.name} leads term {term} with {votes} votes", flush=True)
            self.role, self.leader = "leader", self.name
            # Entries of earlier terms are committed with one of its own (section 5.4.2)
            self.log.append((term, 0))
            self.next = dict.fromkeys(self.peers, len(self.log) - 1)
            self.matched = dict.fromkeys(self.peers, 0)
            await asyncio.gather(*(self.replicate(peer, term) for peer in self.peers))

    async def run(self) -> None:
        """Serve, and seek election when no leader is heard."""
        server = await asyncio.start_server(self.serve, "0.0.0.0", PORT)
        async with server:
            while True:
                self.heard.clear()
                try:
                    async with asyncio.timeout(random.uniform(*ELECTION_S)):
                        await self.heard.wait()
                except TimeoutError:
                    await self.elect()


async def client(nodes: list[str], count: int) -> int:
    """Add 1 to ``count`` to the counter, each until it is done; return 1 if the sum is wrong."""
    leader = nodes[0]
    for value in range(1, count + 1):
        while True:
            answer = await ask(leader, {"kind": "add", "value": value}, CLIENT_S)
            if answer and answer["ok"]:
                break
            others = [node for node in nodes if node != leader]
            leader = (answer and answer["leader"]) or random.choice(others)
            await asyncio.sleep(0.2)
        print(f"added {value} by {leader}", flush=True)
    answer = await ask(leader, {"kind": "read"}, CLIENT_S)
    print(f"the counter is {answer and answer['counter']}", flush=True)
    return int(not answer or answer["counter"] != count * (count + 1) // 2)


if sys.argv[1] == "client":
    sys.exit(asyncio.run(client(sys.argv[2:], 12)))
asyncio.run(Node(sys.argv[1], sys.argv[2:]).run())
