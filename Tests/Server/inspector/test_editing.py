"""Editing in place: staged, previewed, saved with who and why; conflicts are shown, not lost."""

import json

import pytest
from inspector_page import Page, Server, cambium
from selenium.webdriver import Keys


def value(page, path):
    return json.loads(cambium("get", page.server.database, path, "--json"))


def edit(page, path, name, text):
    page.open(f"#/state?path={path}")
    page.sees(name, ".properties")
    page.until(lambda: page.run("return document.querySelectorAll('.mark').length > 0"))
    cell = page.find(f"[data-property={name}] .cell")
    page.run("arguments[0].dispatchEvent(new MouseEvent('dblclick', { bubbles: true }))", cell)
    page.enter(".editor", text + Keys.ENTER)


def save(page, who, why):
    page.enter("dialog [name=actor]", who)
    page.enter("dialog [name=reason]", why + Keys.ENTER)


def test_a_change_is_staged_previewed_and_saved(page):
    before = page.head
    edit(page, "stations/north", "height", "321")
    page.sees("1 staged", ".edits")
    assert page.run("return document.querySelector('tr.staged').dataset.property") == "height"
    assert page.head == before
    page.chord("s")
    page.sees("321", "dialog .new")
    page.shot("preview")
    assert page.head == before
    save(page, "tester", "measured again")
    page.until(lambda: page.head == before + 1)
    assert value(page, "stations/north")["height"] == 321
    made = page.json(f"/v1/show?rev={before + 1}")[0]
    assert made["metadata"] == {"actor": "tester", "reason": "measured again"}
    page.until(lambda: not page.run("return document.querySelector('tr.staged')"))


def test_nothing_is_written_without_a_name(page):
    before = page.head
    edit(page, "stations/north", "height", "322")
    page.run("localStorage.removeItem('actor')")
    page.chord("s")
    page.click("dialog button.main")
    page.sees("Say who", "dialog")
    assert page.head == before


def test_what_the_schema_refuses_is_said_before_it_is_saved(page):
    before = page.head
    edit(page, "stations/north", "height", '"high"')
    page.chord("s")
    page.sees("must be an integer", "dialog")
    assert page.head == before
    page.errors()


def test_what_is_no_value_stays_in_its_field(page):
    edit(page, "stations/north", "height", "12 or so")
    assert page.find(".editor").get_attribute("value") == "12 or so"
    assert page.run("return document.querySelector('.editor').matches('[aria-invalid]')")


def test_a_conflict_is_shown_and_mine_goes_on_top_of_it(page):
    edit(page, "stations/east", "height", "901")
    cambium(
        "patch", page.server.database, "stations/east", '{"height": 900}', "--actor", "other", "-q"
    )
    page.sees("has changed this record meanwhile", ".edits")
    page.chord("s")
    page.sees("Yours on top", "dialog")
    page.sees("900", "dialog .old")
    page.sees("901", "dialog .new")
    page.shot("conflict")
    page.click("dialog button", "Yours on top")
    page.sees("900", "dialog .old")
    save(page, "tester", "mine holds")
    page.until(lambda: value(page, "stations/east")["height"] == 901)
    page.errors()


def test_a_change_of_others_can_be_taken(page):
    edit(page, "stations/east", "height", "5")
    cambium(
        "patch", page.server.database, "stations/east", '{"height": 6}', "--actor", "other", "-q"
    )
    page.sees("meanwhile", ".edits")
    page.chord("s")
    page.click("dialog button", "Take theirs")
    page.until(lambda: page.text(".edits") == "")
    page.sees("6", "[data-property=height]")
    assert value(page, "stations/east")["height"] == 6
    page.errors()


def test_undo_by_key(page):
    cambium(
        "patch", page.server.database, "stations/east", '{"height": 77}', "--actor", "other", "-q"
    )
    head = page.head
    page.open("#/state?path=stations/east")
    page.sees("77", "[data-property=height]")
    page.chord("z")
    page.sees("77", "dialog .old")
    save(page, "tester", "by key")
    page.until(lambda: page.head == head + 1)
    assert value(page, "stations/east")["height"] != 77


def test_the_past_cannot_be_edited(page):
    page.open("#/state?path=stations/east&at=100")
    page.sees("height", ".properties")
    page.keys("e")
    page.settle()
    assert not page.run("return document.querySelector('.editor')")
    assert "Edit" not in page.text(".record h3")


@pytest.fixture
def reading(browser, database):
    server = Server(database)
    page = Page(browser, server)
    yield page
    server.stop()
    page.errors()


def test_a_server_that_only_reads_offers_no_writing(reading):
    reading.open("#/state?path=stations/east&tx=5")
    reading.sees("read only", "#status")
    reading.sees("height", ".properties")
    reading.keys("e")
    assert not reading.run("return document.querySelector('.editor')")
    assert reading.find(".detail button", "Undo").get_attribute("disabled")
