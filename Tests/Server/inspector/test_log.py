"""The log: an endless list, its filter, one transaction, undo of it."""

import pytest
from inspector_page import cambium
from selenium.webdriver import Keys


def rows(page):
    return page.run(
        "return [...document.querySelectorAll('#log-list .row .sequence')]"
        ".map(e => Number(e.innerText.replaceAll(',', ''))).sort((a, b) => a - b)"
    )


def test_it_begins_at_the_end(page):
    page.open("#/log")
    page.until(lambda: page.head in rows(page))
    assert len(rows(page)) < 80
    page.shot("log")


def test_it_is_windowed_both_ways(page):
    page.open("#/log")
    page.until(lambda: page.head in rows(page))
    page.run("document.getElementById('log-list').scrollTop = 0")
    page.until(lambda: 1 in rows(page))
    page.sees("the models", "#log-list")
    page.run("document.getElementById('log-list').scrollTop = 24 * 1000")
    page.until(lambda: 1005 in rows(page))
    assert len(rows(page)) < 80
    page.run("document.getElementById('log-list').scrollTop = 1e9")
    page.until(lambda: page.head in rows(page))


def test_a_filter_finds_what_the_command_line_finds(page):
    page.open("#/log")
    page.enter("[data-search]", "actor=eve" + Keys.ESCAPE)
    page.until(lambda: page.parameters.get("f") == "actor=eve")
    expected = [
        line
        for line in cambium(
            "log", page.server.database, "actor=eve", "--oneline", "--no-pager"
        ).splitlines()
        if line
    ]
    page.until(lambda: len(rows(page)) == len(expected))
    assert "actor=eve" in page.text(".pane.log > .source code")


def test_a_filter_loads_its_older_pages_as_one_scrolls(page):
    page.open("#/log?f=actor=anna")
    first = page.until(lambda: rows(page) and rows(page)[0])
    assert first > 10

    # The list grows while its pages come, so that its beginning is further up each time.
    def is_at_start():
        page.run("document.getElementById('log-list').scrollTop = 0")
        return min(rows(page)) < 10

    page.until(is_at_start, seconds=30)


@pytest.mark.parametrize(
    "text, message, place",
    [
        ("actor=anna op=explode", "op is one of", 11),
        ("tx=twelve", "tx is a number", 0),
        ("actor=anna 'open", "not closed", 11),
        ("+ actor=anna", "+ stands between", 0),
        ("since=yesteryear", "yesteryear", 0),
    ],
)
def test_a_mistake_in_the_filter_is_shown_at_its_place(page, text, message, place):
    page.open("#/log")
    page.enter("[data-search]", text)
    page.sees(message, ".mistake")
    marks = page.run("return document.querySelector('.mistake .marks').textContent")
    assert len(marks) - len(marks.lstrip(" ")) == place
    assert page.run("return document.querySelector('[data-search]').matches('[aria-invalid]')")
    page.errors()


def test_the_filter_offers_names_and_values(page):
    page.open("#/log")
    page.enter("[data-search]", "act")
    page.sees("actor=", ".offers")
    page.keys(Keys.TAB)
    page.keys("b")
    page.sees("actor=ben", ".offers")
    page.keys(Keys.ARROW_DOWN, Keys.ENTER)
    page.until(lambda: page.parameters.get("f") == "actor=ben")


def test_a_transaction_shows_old_and_new_word_by_word(page):
    number = page.head
    while "after the review" not in cambium("show", page.server.database, number):
        number -= 1
    page.open(f"#/log?tx={number}")
    page.sees("notes/fog", ".detail")
    assert page.run(
        "return [...document.querySelectorAll('.detail .old del')]" ".map(e => e.textContent)"
    ) == ["nine", "half"]
    new = page.run(
        "return [...document.querySelectorAll('.detail .new ins')].map(e => e.textContent)"
    )
    assert new[:2] == ["ten", "most"]
    page.shot("transaction")


def test_new_transactions_come_by_themselves(page):
    page.open("#/log")
    page.settle()
    cambium(
        "patch",
        page.server.database,
        "stations/west",
        '{"height": 77}',
        "--actor",
        "second",
        "--reason",
        "another process",
        "-q",
    )
    page.sees("another process", "#log-list")
    page.sees(f"{page.head:,} transactions", "#status")


def test_undo_is_previewed_then_done_and_linked_both_ways(page):
    cambium(
        "patch", page.server.database, "stations/east", '{"height": 555}', "--actor", "second", "-q"
    )
    number = page.head
    page.open(f"#/log?tx={number}")
    page.sees("555", ".detail")
    page.keys("u")
    page.sees("555", "dialog .old")
    page.enter("dialog [name=actor]", "tester")
    page.enter("dialog [name=reason]", "not true")
    page.shot("undo")
    page.keys(Keys.ENTER)
    page.until(lambda: page.head == number + 1)
    page.sees(f"undoes={number}", ".detail")
    made = page.json(f"/v1/show?rev={number + 1}")[0]
    assert made["metadata"] == {"actor": "tester", "reason": "not true", "undoes": str(number)}
    page.click(".detail .metadata a", str(number))
    page.sees("undone by", ".detail")


def test_an_undo_that_meets_a_later_change_says_so(page):
    for height in (1, 2):
        cambium("patch", page.server.database, "stations/south", f'{{"height": {height}}}', "-q")
    page.open(f"#/log?tx={page.head - 1}")
    page.sees("stations/south", ".detail")
    head = page.head
    page.keys("u")
    page.sees("Undo it all", "dialog")
    page.keys(Keys.ESCAPE)
    assert page.head == head
    page.errors()
