"""Every call of firebase-admin's `db` module that sends something."""

import contextlib

import pytest
from firebase_admin import db, exceptions

from clients import admin_app, closing

USERS = {
    "ada": {"name": "Ada", "age": 36, "city": "London"},
    "bob": {"name": "Bob", "age": 25, "city": "Oslo"},
    "eve": {"name": "Eve", "age": 31, "city": "Oslo"},
    "zoe": {"name": "Zoe"},
}


def test_get_of_nothing_is_none(ref):
    assert ref.get() is None


@pytest.mark.parametrize(
    "value",
    [
        True,
        False,
        0,
        -7,
        2**53,
        2.5,
        1e100,
        "",
        "text",
        'ü "\\\n\u2028 😀',
        {"a": {"b": {"c": 1}}},
        ["x", "y", {"z": 1}],
        {"sp ace": 1, "ü": 2, "it's": 3},
    ],
)
def test_what_is_set_is_got(ref, value):
    ref.set(value)
    assert ref.get() == value


def test_what_is_empty_vanishes(ref):
    ref.set({"a": 1, "b": {}, "c": [], "d": {"e": {"f": {}}}})
    assert ref.get() == {"a": 1}
    ref.child("a").delete()
    assert ref.get() is None


def test_paths_are_percent_encoded(ref):
    child = ref.child("sp ace/ü/a+b&c=d'")
    child.set(1)
    assert child.get() == 1
    assert ref.get() == {"sp ace": {"ü": {"a+b&c=d'": 1}}}


def test_shallow(ref):
    ref.set({"a": {"b": 1}, "c": 2, "d": [1, 2]})
    assert ref.get(shallow=True) == {"a": True, "c": 2, "d": True}


def test_etags(ref):
    value, tag = ref.get(etag=True)
    assert value is None and tag == "null_etag"
    ref.set({"a": 1})
    value, tag = ref.get(etag=True)
    assert value == {"a": 1}
    assert ref.get_if_changed(tag) == (False, None, None)
    ref.child("a").set(2)
    changed, value, other = ref.get_if_changed(tag)
    assert changed and value == {"a": 2} and other != tag


def test_set_if_unchanged(ref):
    ref.set({"a": 1})
    tag = ref.get(etag=True)[1]
    done, value, second = ref.set_if_unchanged(tag, {"a": 2})
    assert done and value == {"a": 2} and second == ref.get(etag=True)[1]
    done, value, third = ref.set_if_unchanged(tag, {"a": 3})
    assert not done and value == {"a": 2} and third == second


def test_transaction(ref):
    counter = ref.child("n")
    for _ in range(5):
        counter.transaction(lambda value: (value or 0) + 1)
    assert counter.get() == 5


def test_a_transaction_sees_what_came_between(ref):
    counter = ref.child("n")
    counter.set(1)
    seen = []

    def add(value):
        seen.append(value)
        if len(seen) == 1:
            counter.set(10)
        return value + 1

    assert counter.transaction(add) == 11
    assert seen == [1, 10]


def test_push(ref):
    keys = [ref.push({"n": number}).key for number in range(20)]
    assert keys == sorted(keys) and all(len(key) == 20 for key in keys)
    assert list(ref.get()) == keys
    assert ref.push().get() == ""


def test_update_with_deep_paths_is_one_change(ref):
    ref.set({"bob": {"age": 1, "address": {"street": "A", "city": "B"}}})
    ref.update({"bob/age": 26, "bob/address/street": "X 1", "eve": {"age": 3}})
    assert ref.get() == {
        "bob": {"age": 26, "address": {"street": "X 1", "city": "B"}},
        "eve": {"age": 3},
    }
    ref.update({"eve": None, "bob/address/city": None})
    assert ref.get() == {"bob": {"age": 26, "address": {"street": "X 1"}}}


def test_delete(ref):
    ref.set(1)
    ref.delete()
    assert ref.get() is None


def test_server_values(ref):
    ref.set({"n": 1, "t": {".sv": "timestamp"}})
    ref.update({"n": {".sv": {"increment": 2}}})
    value = ref.get()
    assert value["n"] == 3 and value["t"] > 1_600_000_000_000


@pytest.mark.parametrize(
    "query, keys",
    [
        (lambda r: r.order_by_child("age").start_at(26), ["eve", "ada"]),
        (lambda r: r.order_by_child("age").end_at(31), ["zoe", "bob", "eve"]),
        (lambda r: r.order_by_child("age").start_at(26).end_at(31), ["eve"]),
        (lambda r: r.order_by_child("city").equal_to("Oslo"), ["bob", "eve"]),
        (lambda r: r.order_by_child("age").limit_to_first(2), ["zoe", "bob"]),
        (lambda r: r.order_by_child("age").limit_to_last(2), ["eve", "ada"]),
        (lambda r: r.order_by_key().start_at("b").limit_to_first(2), ["bob", "eve"]),
        (lambda r: r.order_by_key().limit_to_last(1), ["zoe"]),
        (lambda r: r.order_by_key().equal_to("eve"), ["eve"]),
    ],
)
def test_queries(ref, query, keys):
    ref.set(USERS)
    assert list(query(ref).get()) == keys


def test_order_by_value(ref):
    ref.set({"a": 3, "b": "x", "c": 1, "d": True, "e": 2.5})
    assert list(ref.order_by_value().get()) == ["d", "c", "e", "a", "b"]
    assert ref.order_by_value().start_at(2).end_at(3).get() == {"e": 2.5, "a": 3}


def test_deep_child_paths(ref):
    ref.set({"a": {"x": {"y": 2}}, "b": {"x": {"y": 1}}})
    assert list(ref.order_by_child("x/y").get()) == ["b", "a"]


def test_invalid_keys_are_refused(ref):
    with pytest.raises(exceptions.InvalidArgumentError):
        ref.set({"a.b": 1})


def test_an_override_of_the_caller_is_accepted(shared_server, place):
    app = admin_app(shared_server, databaseAuthVariableOverride={"uid": "x"})
    reference = db.reference(place, app)
    reference.set(1)
    assert reference.get() == 1


def test_a_listener_gets_puts_and_patches(ref, follower):
    ref.set({"bob": {"age": 1}})
    with closing(ref.listen(follower.admin), ref.child("bye").set):
        assert follower.next() == ("put", "/", {"bob": {"age": 1}})
        ref.child("bob/age").set(31)
        assert follower.next() == ("put", "/bob/age", 31)
        ref.update({"bob/age": 32, "bob/name": "Bob"})
        assert follower.next() == ("patch", "/bob", {"age": 32, "name": "Bob"})
        ref.child("eve").set({"age": 4})
        assert follower.next() == ("put", "/eve", {"age": 4})
        ref.child("bob").delete()
        assert follower.next() == ("put", "/bob", None)
        ref.delete()
        assert follower.next()[2] is None


def test_a_listener_of_a_child_sees_writes_above(ref, follower):
    ref.set({"a": {"b": 1}})
    with closing(ref.child("a/b").listen(follower.admin), ref.child("a/b/bye").set):
        assert follower.next() == ("put", "/", 1)
        ref.set({"a": {"b": {"c": 2}}})
        assert follower.next() == ("put", "/", {"c": 2})


@pytest.mark.parametrize("ending", ["stop", "kill"])
def test_a_listener_over_a_restart_misses_nothing_and_gets_nothing_twice(
    make_server, follower, ending
):
    server = make_server()
    app = admin_app(server)
    ref = db.reference("log", app)
    with closing(ref.listen(follower.admin), ref.child("bye").set):
        follower.next()
        for number in range(3):
            ref.child(f"before{number}").set(number)
        follower.wait({f"before{number}": number for number in range(3)})
        getattr(server, ending)()
        # While nobody serves, another process writes.
        for number in range(3):
            server.tool("put", server.database, f"log/between{number}", str(number))
        server.start()
        for number in range(3):
            ref.child(f"after{number}").set(number)
        expected = {
            f"{when}{number}": number
            for when in ("before", "between", "after")
            for number in range(3)
        }
        follower.wait(expected)
        puts = [path for kind, path, _ in follower.all if path != "/"]
        assert sorted(puts) == sorted(f"/{name}" for name in expected)


def test_listeners_of_several_writers_end_with_what_is_there(ref, make_follower):
    followers = [make_follower() for _ in range(4)]
    with contextlib.ExitStack() as stack:
        for follower in followers:
            stack.enter_context(closing(ref.listen(follower.admin), ref.child("bye").set))
        for number in range(60):
            ref.child(f"k{number % 7}").set({"n": number, "m": {"x": number % 3}})
            if number % 5 == 0:
                ref.update({f"k{number % 7}/m/x": None, "last": number})
        for follower in followers:
            follower.wait(ref.get())
