"""Servers with tokens: the page asks for one, and shows what it is for."""

import pytest
from inspector_page import Page, Server, cambium
from selenium.webdriver.support import expected_conditions
from selenium.webdriver.support.ui import WebDriverWait

ALL = "4f1d0c3b9a7e5d2f8c6b4f1d0c3b9a7e"
PART = "91c2e7a05b8d4f6e3a1c91c2e7a05b8d"


@pytest.fixture
def guarded(browser, database, tmp_path):
    tokens = tmp_path / "tokens"
    tokens.write_text(f"{ALL} write name=holder\n{PART} read path=stations\n")
    server = Server(database, "--write", "--token-file", str(tokens))
    page = Page(browser, server)
    yield page
    page.run("sessionStorage.clear()")
    page.browser.get("about:blank")
    server.stop()
    page.errors()


def enter(page, token, hash_):
    page.browser.get("about:blank")
    page.browser.get(f"{page.server.url}/")
    WebDriverWait(page.browser, 10).until(expected_conditions.alert_is_present())
    page.browser.switch_to.alert.send_keys(token)
    page.browser.switch_to.alert.accept()
    page.until(lambda: page.run("return document.querySelectorAll('.pane').length > 0"))
    page.run("location.hash = arguments[0]", hash_)


def test_the_page_asks_once_and_streams_follow(guarded):
    enter(guarded, ALL, "#/state?path=stations/west")
    guarded.sees("height", ".properties")
    guarded.sees("live", "#status")
    cambium("patch", guarded.server.database, "stations/west", '{"height": 2468}', "-q")
    guarded.sees("2468", ".properties")


def test_a_token_for_a_part_shows_that_part(guarded):
    enter(guarded, PART, "#/state")
    guarded.sees("harbour", "#tree-list")
    guarded.sees("read only", "#status")
    assert "readings" not in guarded.text("#tree-list")
    guarded.click("#tree-list .row", "harbour")
    guarded.sees("height", ".properties")
    guarded.run("location.hash = '#/query?q=stations sort id'")
    guarded.sees("harbour", "#results")


def test_a_wrong_token_is_said(guarded):
    guarded.browser.get(f"{guarded.server.url}/")
    WebDriverWait(guarded.browser, 10).until(expected_conditions.alert_is_present())
    guarded.browser.switch_to.alert.send_keys("0" * 32)
    guarded.browser.switch_to.alert.accept()
    guarded.sees("not known", "main")
