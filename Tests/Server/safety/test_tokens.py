"""The file of tokens is changed while the server runs: open streams are ended, and told why."""

import http.client
import time

HOLDER = "a" * 32
READER = "b" * 32
OTHER = "c" * 32


class Stream:
    """A stream of Firebase's events."""

    def __init__(self, server, path, token):
        self.connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=20)
        headers = {"Accept": "text/event-stream", "Authorization": f"Bearer {token}"}
        self.connection.request("GET", path, headers=headers)
        self.answer = self.connection.getresponse()

    def event(self):
        """The name of the next event that is not a sign of life; None at the end."""
        while line := self.answer.readline():
            if line.startswith(b"event: ") and line != b"event: keep-alive\n":
                return line[7:].decode().strip()
        return None


def status(server, path, token):
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=20)
    connection.request("GET", path, headers={"Authorization": f"Bearer {token}"})
    return connection.getresponse().status


def test_that_are_withdrawn_or_narrowed_end_their_streams(make_server, tmp_path):
    tokens = tmp_path / "tokens"
    tokens.write_text(f"{HOLDER} read\n{READER} read\n{OTHER} read\n")
    server = make_server("--token-file", str(tokens))
    streams = {token: Stream(server, "/things.json", token) for token in (HOLDER, READER, OTHER)}
    assert {stream.event() for stream in streams.values()} == {"put"}
    tokens.write_text(f"{READER} read path=elsewhere\n{OTHER} read\n")
    # A stream that goes on is told of what comes; the others are told why they end.
    assert streams[HOLDER].event() == "auth_revoked"
    assert streams[HOLDER].event() is None
    assert streams[READER].event() == "cancel"
    assert streams[READER].event() is None
    server.tool("put", server.database, "things/new", "1")
    assert streams[OTHER].event() == "put"
    assert status(server, "/things.json", HOLDER) == 401
    assert status(server, "/things.json", READER) == 401
    assert status(server, "/elsewhere.json", READER) == 200
    # A file that cannot be understood changes nothing.
    tokens.write_text("this is no token\n")
    time.sleep(2.5)
    assert status(server, "/things.json", OTHER) == 200
    server.stop()
