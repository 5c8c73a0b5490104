"""The readers that a server knows of: also those of other processes."""

import json
import subprocess

from killing import TOOL, Client

LINES = "\n".join(
    json.dumps({"operations": [{"op": "set", "path": f"things/{n}", "value": "x" * 2000}]})
    for n in range(300)
)


def test_of_other_processes_are_listed(make_server):
    server = make_server()
    client = Client(server)
    assert client.send("POST", "/v1/apply", LINES).status == 200
    # A command whose output nobody takes holds the moment that it reads.
    words = [TOOL, "tree", server.database, "--json"]
    with subprocess.Popen(words, stdout=subprocess.PIPE) as reader:
        try:
            reader.stdout.read(1)
            for _ in range(3):
                assert client.send("POST", "/v1/put?path=made", "false").status == 200
            answer = client.send("GET", "/v1/readers")
            rows = [json.loads(line) for line in answer.text.splitlines()]
            rows = [row for row in rows if row["process"] == reader.pid]
            assert [row["environment"] for row in rows] == ["state"]
            assert rows[0]["behind"] == 3
        finally:
            reader.kill()
    server.stop()
