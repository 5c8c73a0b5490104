"""A server that is killed in the middle of writes.

Goal: each write that was acknowledged is there afterwards, none is there that was not sent, and
everything is sound. Method: clients write through both interfaces while the server is killed at
random moments; the database is verified while no server runs, and then compared.
"""

import json
import random
import threading
import time

from killing import SEED, Client


class Writer:
    """Writes numbered values, and remembers which were acknowledged."""

    def __init__(self, server, number):
        self.client = Client(server)
        self.number = number
        self.sent = {}
        self.acknowledged = {}

    def write(self):
        name = f"{self.number}-{len(self.sent)}"
        value = {"name": name, "text": "x" * (len(self.sent) * 37 % 5000)}
        self.sent[name] = value
        body = json.dumps(value)
        if self.number % 2:
            answer = self.client.send("PUT", f"/all/{name}.json", body)
        else:
            answer = self.client.send("POST", f"/v1/put?path=all/{name}", body)
        if answer and answer.status == 200:
            self.acknowledged[name] = value


def test_keeps_what_it_acknowledged(make_server):
    dice = random.Random(SEED)
    print(f"seed {SEED}")
    server = make_server()
    writers = [Writer(server, number) for number in range(6)]
    for _ in range(10):
        end = threading.Event()

        def run(writer):
            while not end.is_set():
                writer.write()

        threads = [threading.Thread(target=run, args=(writer,)) for writer in writers]
        for thread in threads:
            thread.start()
        time.sleep(dice.uniform(0.02, 0.3))
        server.kill()
        end.set()
        for thread in threads:
            thread.join()
        server.tool("verify", server.database)
        server.start()
        stored = Client(server).send("GET", "/all.json").json or {}
        for writer in writers:
            for name, value in writer.acknowledged.items():
                assert stored[name] == value
        sent = {name: value for writer in writers for name, value in writer.sent.items()}
        assert all(sent[name] == value for name, value in stored.items())
    assert sum(len(writer.acknowledged) for writer in writers) > 100
