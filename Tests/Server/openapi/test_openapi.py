"""The interface under /v1/ against its own description, fuzzed by schemathesis.

Each operation is called with what the description allows and with what it does not; an answer must
be one that is described, and no call may end the server. Streams do not end by themselves, so that
they are only asked for what is refused. CAMBIUM_EXAMPLES is the number of calls of each operation,
30 unless told; CAMBIUM_SEED chooses them, so that a run can be had again.
"""

import os
import subprocess
import sys
import urllib.error
import urllib.request

import pytest

pytest.importorskip("schemathesis")

EXAMPLES = os.environ.get("CAMBIUM_EXAMPLES", "30")
SEED = os.environ.get("CAMBIUM_SEED", "20261127")
LINES = "\n".join(
    '{"metadata":{"actor":"anna"},"operations":'
    '[{"op":"set","path":"things/%d","value":{"n":%d}}]}' % (n, n)
    for n in range(20)
)


@pytest.fixture
def served(make_server):
    server = make_server()
    request = urllib.request.Request(server.url + "/v1/apply", LINES.encode(), method="POST")
    assert urllib.request.urlopen(request, timeout=10).status == 200
    return server


def test_answers_are_as_described(served, tmp_path):
    tool = os.path.join(os.path.dirname(sys.executable), "schemathesis")
    words = [
        tool,
        "run",
        served.url + "/v1/openapi.json",
        "--phases",
        "coverage,fuzzing",
        # A text that the grammar of moments or queries does not have is refused with 400,
        # which a schema cannot say: so "valid" calls may be refused.
        "--exclude-checks",
        "positive_data_acceptance",
        "--max-examples",
        EXAMPLES,
        "--seed",
        SEED,
        "--request-timeout",
        "60",
        "--continue-on-failure",
        "--warnings",
        "off",
    ]
    for stream in ("/v1/changes", "/v1/live", "/v1/jobs/{id}/events"):
        words += ["--exclude-path", stream]
    run = subprocess.run(words, capture_output=True, text=True, timeout=900, cwd=tmp_path)
    assert run.returncode == 0, run.stdout[-20000:]
    with urllib.request.urlopen(served.url + "/v1/info", timeout=10) as answer:
        assert answer.status == 200
    served.stop()
    served.tool("verify", served.database)


def test_streams_are_described_and_refuse_what_they_cannot_do(served):
    for target in ("changes?after=x", "live", "live?query=", "changes?match=nothing"):
        with pytest.raises(urllib.error.HTTPError) as refusal:
            urllib.request.urlopen(f"{served.url}/v1/{target}", timeout=10)
        assert refusal.value.code == 400
        assert b'"error"' in refusal.value.read()
