"""Starts `cambium serve` for tests, on a free port, and again on the same one.

Each folder beside this file is a suite of its own. Tools/server-tests runs them.
"""

import os
import signal
import socket
import subprocess
import time
import urllib.error
import urllib.request

import pytest

TOOL = os.environ.get("CAMBIUM", "cambium")


class Server:
    """A database, and the server of it, which a test may stop and start."""

    def __init__(self, directory, *arguments):
        self.database = os.path.join(directory, "served.cambium")
        self.arguments = arguments
        self.process = None
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}"
        self.tool("put", "--create", self.database, "made", "true")

    def tool(self, *arguments):
        """Runs a command of the tool; gives what it prints."""
        return subprocess.run(
            [TOOL, *arguments], check=True, capture_output=True, text=True, timeout=60
        ).stdout

    def start(self):
        self.process = subprocess.Popen(
            [TOOL, "serve", self.database, "--write", "--port", str(self.port), *self.arguments],
            stdout=subprocess.DEVNULL,
        )
        for _ in range(600):
            try:
                urllib.request.urlopen(f"{self.url}/made.json", timeout=5).read()
                return self
            except urllib.error.HTTPError as refusal:
                # A server with tokens answers so.
                if refusal.code == 401:
                    return self
                raise
            except OSError:
                if self.process.poll() is not None:
                    raise RuntimeError(f"the server ended with {self.process.returncode}")
                time.sleep(0.05)
        raise RuntimeError("the server does not answer")

    def stop(self):
        """Ends the server as Ctrl-C does; it must do so cleanly."""
        if self.process is None:
            return
        self.process.send_signal(signal.SIGINT)
        try:
            code = self.process.wait(timeout=20)
        except subprocess.TimeoutExpired:
            self.kill()
            raise
        self.process = None
        assert code in (0, 130, -signal.SIGINT), f"the server ended with {code}"

    def kill(self):
        """Ends the server as a crash does."""
        if self.process is not None:
            self.process.kill()
            self.process.wait()
            self.process = None


@pytest.fixture
def make_server(tmp_path):
    """Makes servers that end with the test; each has a database of its own."""
    made = []

    def make(*arguments):
        directory = tmp_path / str(len(made))
        directory.mkdir()
        made.append(Server(str(directory), *arguments))
        return made[-1].start()

    yield make
    for server in made:
        server.kill()


@pytest.fixture(scope="session")
def shared_server(tmp_path_factory):
    """One server for all tests that only need some place in a database."""
    server = Server(str(tmp_path_factory.mktemp("shared"))).start()
    yield server
    server.stop()
    server.tool("verify", server.database)
