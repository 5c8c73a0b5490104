"""Apps of firebase-admin, each with a name of its own."""

import itertools

import firebase_admin

numbers = itertools.count()


def admin_app(server, **options):
    return firebase_admin.initialize_app(
        credential=None, name=f"app{next(numbers)}",
        options={"databaseURL": f"{server.url}?ns=demo", **options})
