"""Every call of pyrebase4's database: a second client, written independently of the first."""

import pytest

from clients import closing


def test_set_answers_with_the_value(pyre, place):
    assert pyre.child(place).set({"a": 1}) == {"a": 1}
    assert pyre.child(place).get().val() == {"a": 1}


def test_push_and_each(pyre, place):
    names = [pyre.child(place).push({"n": number})["name"] for number in range(3)]
    answer = pyre.child(place).get()
    assert [item.key() for item in answer.each()] == names
    assert [item.val()["n"] for item in answer.each()] == [0, 1, 2]


def test_generated_keys(pyre, place):
    key = pyre.generate_key()
    pyre.child(place).child(key).set("x")
    assert pyre.child(place, key).get().val() == "x"


def test_update_answers_with_the_patch(pyre, place):
    pyre.child(place).set({"a": {"b": 1, "c": 2}})
    assert pyre.child(place).update({"a/b": 5, "d": None}) == {"a/b": 5, "d": None}
    assert pyre.child(place).get().val() == {"a": {"b": 5, "c": 2}}


def test_remove_answers_null(pyre, place):
    pyre.child(place).set(1)
    assert pyre.child(place).remove() is None
    assert pyre.child(place).get().val() is None


def test_shallow_gives_keys(pyre, place):
    pyre.child(place).set({"a": {"b": 1}, "c": 1})
    assert set(pyre.child(place).shallow().get().val()) == {"a", "c"}


@pytest.mark.parametrize(
    "ask, keys",
    [
        (lambda d: d.order_by_child("n").start_at(2), ["b", "a"]),
        (lambda d: d.order_by_child("n").end_at(2), ["c", "b"]),
        (lambda d: d.order_by_child("n").equal_to(3), ["a"]),
        (lambda d: d.order_by_child("n").limit_to_first(1), ["c"]),
        (lambda d: d.order_by_child("n").limit_to_last(1), ["a"]),
        (lambda d: d.order_by_key().start_at("b"), ["b", "c"]),
        (lambda d: d.order_by_key().limit_to_last(2), ["b", "c"]),
    ],
)
def test_queries(pyre, place, ask, keys):
    pyre.child(place).set({"a": {"n": 3}, "b": {"n": 2}, "c": {"n": 1}})
    assert [item.key() for item in ask(pyre.child(place)).get().each()] == keys


def test_order_by_value(pyre, place):
    pyre.child(place).set({"a": 3, "b": 1})
    answer = pyre.child(place).order_by_value().get()
    assert [item.key() for item in answer.each()] == ["b", "a"]


def test_conditional_set_and_remove(pyre, place):
    pyre.child(place).set(1)
    tag = pyre.child(place).get_etag()["ETag"]
    assert pyre.child(place).conditional_set(2, tag) == 2
    refused = pyre.child(place).conditional_set(3, tag)
    assert refused["value"] == 2
    assert pyre.child(place).conditional_remove(tag)["value"] == 2
    assert pyre.child(place).conditional_remove(refused["ETag"]) is None
    assert pyre.child(place).get().val() is None


def test_tokens_in_the_address_are_accepted(pyre, place):
    pyre.child(place).set(1, "token")
    assert pyre.child(place).get("token").val() == 1


def test_a_stream(pyre, place, follower):
    pyre.child(place).set({"a": 1})
    with closing(
        pyre.child(place).stream(follower.pyre),
        lambda number: pyre.child(place).child("bye").set(number),
    ):
        assert follower.next() == ("put", "/", {"a": 1})
        pyre.child(place).child("a").set(2)
        assert follower.next() == ("put", "/a", 2)
        pyre.child(place).update({"a": 3, "b/c": 4})
        follower.wait({"a": 3, "b": {"c": 4}})


def test_a_stream_of_a_query(pyre, place, follower):
    pyre.child(place).set({"a": {"n": 1}, "b": {"n": 2}, "c": {"n": 3}})
    with closing(
        pyre.child(place).order_by_child("n").limit_to_last(2).stream(follower.pyre),
        lambda number: pyre.child(place).child("bye").set({"n": 100 + number}),
    ):
        follower.wait({"b": {"n": 2}, "c": {"n": 3}})
        pyre.child(place).child("d").set({"n": 9})
        follower.wait({"c": {"n": 3}, "d": {"n": 9}})
        pyre.child(place).child("c").remove()
        follower.wait({"b": {"n": 2}, "d": {"n": 9}})


def test_a_stream_over_a_restart(make_server, follower):
    import pyrebase

    server = make_server()
    database = pyrebase.initialize_app(
        {"apiKey": "k", "authDomain": "d", "storageBucket": "s", "databaseURL": server.url}
    ).database()
    with closing(
        database.child("log").stream(follower.pyre),
        lambda number: database.child("log").child("bye").set(number),
    ):
        database.child("log").child("a").set(1)
        follower.wait({"a": 1})
        server.stop()
        server.tool("put", server.database, "log/b", "2")
        server.start()
        database.child("log").child("c").set(3)
        follower.wait({"a": 1, "b": 2, "c": 3})
        paths = [path for _, path, _ in follower.all if path != "/"]
        assert sorted(paths) == ["/a", "/b", "/c"]
