"""Clients that write while the server is killed and started again, and do not give up."""

import http.client
import json
import os
import random
import threading
import time

TOOL = os.environ.get("CAMBIUM", "cambium")
SEED = int(os.environ.get("CAMBIUM_SEED", "20261127"))


class Answer:
    """The answer to a request: its status, whether it was kept, and its body."""

    def __init__(self, response):
        self.status = response.status
        self.is_replayed = response.getheader("Idempotency-Replayed") == "true"
        self.text = response.read().decode()

    @property
    def json(self):
        return json.loads(self.text)


class Client:
    """Sends requests to a server on a connection of its own."""

    def __init__(self, server):
        self.server = server
        self.connection = None

    def send(self, method, target, body=None, headers=None):
        """Sends a request once; None if there was no answer."""
        try:
            if self.connection is None:
                self.connection = http.client.HTTPConnection(
                    "127.0.0.1", self.server.port, timeout=20
                )
            self.connection.request(method, target, body, headers or {})
            return Answer(self.connection.getresponse())
        except (OSError, http.client.HTTPException):
            self.connection = None
            return None

    def send_until_answered(self, method, target, body, headers):
        """Sends a request again and again, and gives its answer with the number of copies."""
        for copies in range(1, 2000):
            answer = self.send(method, target, body, headers)
            is_late = answer and answer.status == 409 and "in_progress" in answer.text
            if answer and answer.status < 500 and not is_late:
                return answer, copies
            time.sleep(0.01)
        raise RuntimeError(f"{target} is not answered")


def run_while_killed(server, work, kills, longest=0.15):
    """Runs functions in threads, and kills the server at random moments meanwhile.

    Each function is called with an Event, which is set when it should end.
    """
    dice = random.Random(SEED)
    print(f"seed {SEED}")
    end = threading.Event()
    failures = []

    def run(body):
        try:
            body(end)
        except BaseException as failure:
            failures.append(failure)

    threads = [threading.Thread(target=run, args=(body,)) for body in work]
    for thread in threads:
        thread.start()
    for _ in range(kills):
        time.sleep(dice.uniform(0.01, longest))
        server.kill()
        server.start()
    end.set()
    for thread in threads:
        thread.join(timeout=120)
    assert not failures, failures
    assert not any(thread.is_alive() for thread in threads)
