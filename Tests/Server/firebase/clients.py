"""Apps of firebase-admin, each with a name of its own, and listeners that end quickly."""

import contextlib
import itertools
import threading

import firebase_admin

numbers = itertools.count()


def admin_app(server, **options):
    return firebase_admin.initialize_app(
        credential=None,
        name=f"app{next(numbers)}",
        options={"databaseURL": f"{server.url}?ns=demo", **options},
    )


@contextlib.contextmanager
def closing(listener, wake):
    """Closes a listener, whose thread only sees that with the next event: `wake` makes one.

    A client that closes itself while it reads may stumble over that, which is nothing of ours.
    """
    try:
        yield listener
    finally:
        closed = threading.Event()

        def keep_awake():
            number = 0
            while not closed.wait(0.1):
                number += 1
                with contextlib.suppress(Exception):
                    wake(number)

        threading.Thread(target=keep_awake, daemon=True).start()
        with contextlib.suppress(AttributeError):
            listener.close()
        closed.set()
