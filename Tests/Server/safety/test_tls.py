"""The server's certificate, and the addresses that are not served without one."""

import json
import os
import signal
import socket
import ssl
import subprocess
import time
import urllib.error
import urllib.request

import pytest
from killing import TOOL

TOKEN = "a-token-that-is-long-enough"


@pytest.fixture(scope="module")
def certificate(tmp_path_factory):
    """A certificate for this machine that no authority has signed, and its key."""
    folder = tmp_path_factory.mktemp("certificate")
    names = [str(folder / name) for name in ("cert.pem", "key.pem")]
    words = "openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=localhost".split()
    words += ["-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1"]
    words += ["-out", names[0], "-keyout", names[1]]
    try:
        subprocess.run(words, check=True, capture_output=True)
    except FileNotFoundError:
        pytest.skip("there is no openssl")
    return names


@pytest.fixture
def serve(tmp_path):
    """Starts servers that end with the test; gives the process and its port."""
    database = str(tmp_path / "tls.cambium")
    subprocess.run([TOOL, "put", "--create", database, "secret", '"treasure"'], check=True)
    started = []

    def start(*arguments):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        environment = {name: text for name, text in os.environ.items() if name != "CAMBIUM_TOKEN"}
        process = subprocess.Popen(
            [TOOL, "serve", database, "--port", str(port), *arguments],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=environment,
        )
        started.append(process)
        for _ in range(600):
            if process.poll() is not None:
                break
            try:
                socket.create_connection(("127.0.0.1", port), timeout=5).close()
                break
            except OSError:
                time.sleep(0.05)
        return process, port

    yield start
    for process in started:
        if process.poll() is None:
            process.send_signal(signal.SIGINT)
        process.communicate(timeout=20)


def ask(address, context=None, token=None):
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    request = urllib.request.Request(address, headers=headers)
    with urllib.request.urlopen(request, timeout=20, context=context) as answer:
        return json.loads(answer.read())


def test_answers_by_https_alone(serve, certificate):
    cert, key = certificate
    _, port = serve("--cert", cert, "--key", key)
    trusting = ssl.create_default_context(cafile=cert)
    assert ask(f"https://127.0.0.1:{port}/secret.json", trusting) == "treasure"
    assert ask(f"https://localhost:{port}/v1/get?path=secret", trusting) == "treasure"
    # It is this certificate that the server has: who does not know it is not connected.
    with pytest.raises(urllib.error.URLError) as refusal:
        ask(f"https://127.0.0.1:{port}/secret.json", ssl.create_default_context())
    assert isinstance(refusal.value.reason, ssl.SSLCertVerificationError)
    # Without TLS nothing is answered.
    with socket.create_connection(("127.0.0.1", port), timeout=20) as plain:
        plain.sendall(b"GET /secret.json HTTP/1.1\r\nHost: 127.0.0.1:%d\r\n\r\n" % port)
        received = b""
        try:
            while piece := plain.recv(4096):
                received += piece
        except ConnectionResetError:
            pass
    assert b"HTTP/" not in received and b"treasure" not in received
    assert ask(f"https://127.0.0.1:{port}/secret.json", trusting) == "treasure"


def test_other_addresses_need_tokens_and_tls(serve, certificate, tmp_path):
    cert, key = certificate
    tokens = tmp_path / "tokens"
    tokens.write_text(f"{TOKEN} read\n")
    for arguments in (
        ["--host", "0.0.0.0"],
        ["--host", "0.0.0.0", "--insecure"],
        ["--host", "0.0.0.0", "--cert", cert, "--key", key],
        ["--host", "0.0.0.0", "--token-file", str(tokens)],
    ):
        process, _ = serve(*arguments)
        assert process.wait(timeout=20) != 0, arguments
        assert "0.0.0.0" in process.stderr.read(), arguments
    _, port = serve("--host", "0.0.0.0", "--token-file", str(tokens), "--insecure")
    assert ask(f"http://127.0.0.1:{port}/secret.json", token=TOKEN) == "treasure"
    safe = ["--cert", cert, "--key", key]
    _, port = serve("--host", "0.0.0.0", "--token-file", str(tokens), *safe)
    trusting = ssl.create_default_context(cafile=cert)
    assert ask(f"https://127.0.0.1:{port}/secret.json", trusting, TOKEN) == "treasure"
    with pytest.raises(urllib.error.HTTPError) as refusal:
        ask(f"https://127.0.0.1:{port}/secret.json", trusting)
    assert refusal.value.code == 401


@pytest.mark.parametrize("broken", ["missing", "empty", "swapped", "other key"])
def test_does_not_start_with_a_certificate_that_is_none(serve, certificate, tmp_path, broken):
    cert, key = certificate
    empty = tmp_path / "empty.pem"
    empty.write_text("")
    other = tmp_path / "other.pem"
    words = ["openssl", "genpkey", "-algorithm", "RSA", "-out", str(other)]
    subprocess.run(words, check=True, capture_output=True)
    pairs = {
        "missing": (cert, str(tmp_path / "none.pem")),
        "empty": (str(empty), key),
        "swapped": (key, cert),
        "other key": (cert, str(other)),
    }
    cert, key = pairs[broken]
    process, _ = serve("--cert", cert, "--key", key)
    assert process.wait(timeout=20) != 0
    assert process.stderr.read().strip()
