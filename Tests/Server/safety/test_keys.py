"""Requests with an `Idempotency-Key`, while the server is killed again and again.

Goal: each request is made once, and all of its copies get one answer. Method: clients send each
request with a key of its own until they have an answer, while the server is killed at random
moments, many of them between a commit and its answer. A request has its key as its reason, so that
the log tells how often it was made; increments are counted as well. CAMBIUM_KILLS is the number of
kills, and CAMBIUM_SEED chooses their moments.
"""

import collections
import json
import os
import random
import urllib.parse

from killing import SEED, Client, run_while_killed

KILLS = int(os.environ.get("CAMBIUM_KILLS", "20"))


class Writer:
    """Makes requests of all kinds in its own part of the tree, and remembers their answers."""

    def __init__(self, server, number):
        self.client = Client(server)
        self.name = f"w{number}"
        self.dice = random.Random(SEED * 100 + number)
        self.asked = []
        self.answers = {}
        self.copies = collections.Counter()

    def run(self, end):
        kinds = [self.put, self.patch, self.delete, self.undo, self.tag, self.apply, self.count]
        self.ask("put", {"path": self.name + "/record"}, '{"n": 0}')
        while not end.is_set():
            self.dice.choice(kinds)()

    def ask(self, command, parameters, body=None, as_self=True):
        key = f"{self.name}-{len(self.asked)}"
        if as_self:
            parameters = {"actor": self.name, "reason": key, **parameters}
        target = f"/v1/{command}?{urllib.parse.urlencode(parameters)}"
        request = ("POST", target, body, {"Idempotency-Key": key})
        self.asked.append((key, command, request))
        answer, copies = self.client.send_until_answered(*request)
        self.answers[key] = answer
        self.copies[copies > 1] += 1
        return key

    def put(self):
        path = f"{self.name}/{len(self.asked)}"
        self.ask("put", {"path": path}, json.dumps({"at": len(self.asked)}))

    def patch(self):
        self.ask("patch", {"path": self.name + "/record"}, json.dumps({"n": len(self.asked)}))

    def delete(self):
        self.ask("delete", {"path": f"{self.name}/{len(self.asked) - 1}"})

    def undo(self):
        self.ask("undo", {"who": self.name})

    def tag(self):
        self.ask("tag", {"name": f"{self.name}-{len(self.asked)}"}, as_self=False)

    def apply(self):
        key = f"{self.name}-{len(self.asked)}"
        lines = [
            {
                "metadata": {"reason": f"{key}/{line}"},
                "operations": [{"op": "increment", "path": "lines"}],
            }
            for line in range(self.dice.choice([2, 5]))
        ]
        self.ask("apply", {}, "\n".join(map(json.dumps, lines)), as_self=False)

    def count(self):
        key = f"{self.name}-{len(self.asked)}"
        line = {"metadata": {"reason": key}, "operations": [{"op": "increment", "path": "count"}]}
        self.ask("apply", {}, json.dumps(line), as_self=False)


def made(server):
    """The numbers of the transactions by their reasons."""
    made = collections.defaultdict(list)
    for line in server.tool("log", server.database, "--json").splitlines():
        transaction = json.loads(line)
        reason = transaction.get("metadata", {}).get("reason")
        if reason:
            made[reason].append(transaction["sequence"])
    return made


def check(writer, by_reason, tags):
    """Each request was made as often as its answer says, which is once or not at all."""
    lines = count = 0
    for key, command, (_, _, body, _) in writer.asked:
        answer = writer.answers[key]
        if command == "tag":
            assert answer.status == 200, answer.text
            assert tags[answer.json["name"]] == answer.json["sequence"]
        elif command == "apply":
            size = len(body.splitlines())
            reasons = [key] if size == 1 else [f"{key}/{line}" for line in range(size)]
            sequences = [by_reason[reason] for reason in reasons]
            assert all(len(one) == 1 for one in sequences), (key, sequences)
            assert answer.json["transactions"] == size
            assert answer.json["first"] == sequences[0][0]
            assert answer.json["last"] == sequences[-1][0]
            lines, count = (lines, count + 1) if size == 1 else (lines + size, count)
        elif answer.status == 200 and "sequence" in answer.json:
            assert by_reason[key] == [answer.json["sequence"]], (key, answer.text)
        else:
            assert answer.status in (200, 404, 409), answer.text
            assert by_reason[key] == [], (key, answer.text)
    return lines, count


def test_are_made_once_though_the_server_is_killed(make_server):
    server = make_server()
    writers = [Writer(server, number) for number in range(6)]
    run_while_killed(server, [writer.run for writer in writers], KILLS)
    copies = sum((writer.copies for writer in writers), collections.Counter())
    print(f"{copies[False]} answered at once, {copies[True]} sent again")
    assert copies[True] >= KILLS
    by_reason = made(server)
    listed = server.tool("tag", server.database, "--json").splitlines()
    tags = {tag["name"]: tag["sequence"] for tag in map(json.loads, listed)}
    sums = [check(writer, by_reason, tags) for writer in writers]
    client = Client(server)
    assert client.send("GET", "/lines.json").json == sum(lines for lines, _ in sums)
    assert client.send("GET", "/count.json").json == sum(count for _, count in sums)
    # Asked once more, each request is answered as before, and changes nothing.
    head = client.send("GET", "/v1/server").json["head"]
    for writer in writers:
        for key, _, request in writer.asked:
            again = client.send(*request)
            assert again.is_replayed, key
            assert again.status == writer.answers[key].status
            assert again.text == writer.answers[key].text
    assert client.send("GET", "/v1/server").json["head"] == head
    server.stop()
    server.tool("verify", server.database)


def test_are_made_once_though_copies_come_at_the_same_time(make_server):
    server = make_server()
    line = '{"operations": [{"op": "increment", "path": "count"}]}'
    keys = range(30)

    def copy(_):
        client = Client(server)
        for key in keys:
            # Three lines give the copies time to meet.
            headers = {"Idempotency-Key": f"k{key}"}
            answer, _ = client.send_until_answered(
                "POST", "/v1/apply", "\n".join([line] * 3), headers
            )
            answers[key].add(answer.text)

    answers = [set() for _ in keys]
    run_while_killed(server, [copy] * 5, 0)
    assert Client(server).send("GET", "/count.json").json == 3 * len(keys)
    assert [len(texts) for texts in answers] == [1] * len(keys)
    server.stop()
    server.tool("verify", server.database)
