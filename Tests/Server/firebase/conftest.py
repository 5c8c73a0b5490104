"""Clients of the Firebase Realtime Database, unmodified, that speak to the server."""

import itertools
import queue
import threading
import time

import firebase_admin
import pyrebase
import pytest
from firebase_admin import db

from clients import admin_app

numbers = itertools.count()


@pytest.fixture
def place():
    """A place of its own in a database that tests share."""
    return f"place{next(numbers)}"


@pytest.fixture
def ref(shared_server, place):
    app = admin_app(shared_server)
    yield db.reference(place, app)
    firebase_admin.delete_app(app)


@pytest.fixture
def pyre(shared_server):
    config = {
        "apiKey": "k",
        "authDomain": "d",
        "storageBucket": "s",
        "databaseURL": shared_server.url,
    }
    return pyrebase.initialize_app(config).database()


class Follower:
    """Applies the events of a listener to the value that it has."""

    def __init__(self):
        self.value = None
        self.events = queue.Queue()
        self.all = []
        self.lock = threading.Lock()

    def take(self, kind, path, data):
        with self.lock:
            self.all.append((kind, path, data))
            keys = [key for key in path.split("/") if key]
            if kind == "put":
                self.value = replaced(self.value, keys, data)
            elif kind == "patch":
                for name, value in data.items():
                    self.value = replaced(self.value, keys + name.split("/"), value)
        self.events.put((kind, path, data))

    def admin(self, event):
        self.take(event.event_type, event.path, event.data)

    def pyre(self, message):
        self.take(message["event"], message["path"], message["data"])

    def next(self):
        return self.events.get(timeout=20)

    def wait(self, value):
        """Waits until the value is this one."""
        end = time.monotonic() + 30
        while True:
            with self.lock:
                if self.value == value:
                    return
            assert time.monotonic() < end, f"{self.value} is not {value}; {self.all}"
            time.sleep(0.02)


def replaced(tree, keys, value):
    """A tree with what lies at keys replaced; None where nothing is left."""
    if not keys:
        return value
    if isinstance(tree, list):
        tree = {str(index): item for index, item in enumerate(tree) if item is not None}
    tree = dict(tree) if isinstance(tree, dict) else {}
    inner = replaced(tree.get(keys[0]), keys[1:], value)
    tree.pop(keys[0], None)
    if inner is not None:
        tree[keys[0]] = inner
    return tree or None


@pytest.fixture
def follower():
    return Follower()


@pytest.fixture
def make_follower():
    return Follower
