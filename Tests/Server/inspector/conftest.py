"""The fixtures of the inspector's tests; what they are made of is in inspector_page.py."""

import os
import pathlib
import shutil

import measures
import pytest
import readings
from inspector_page import CAMBIUM, COUNT_REQUESTS, SHOTS, Page, Server, missing


def pytest_collection_modifyitems(items):
    reason = missing()
    here = pathlib.Path(__file__).parent
    for item in items:
        # The items are those of all folders.
        if reason and here in item.path.parents:
            item.add_marker(pytest.mark.skip(reason=reason))


@pytest.fixture(scope="session")
def database(tmp_path_factory):
    path = tmp_path_factory.mktemp("inspector") / "readings.cambium"
    readings.make(CAMBIUM, str(path), 2000)
    return path


@pytest.fixture(scope="session")
def server(database):
    server = Server(database, "--write")
    yield server
    server.stop()


@pytest.fixture(scope="session")
def large(tmp_path_factory):
    """A server of the database that times are taken on."""
    path = os.environ.get("CAMBIUM_INSPECTOR_DB")
    if not path or not os.path.exists(path):
        path = path or str(tmp_path_factory.mktemp("large") / "large.cambium")
        readings.make(CAMBIUM, path, measures.COUNT, measures.COUNT)
    server = Server(path, "--write")
    yield server
    server.stop()


def pytest_terminal_summary(terminalreporter):
    if measures.report():
        measures.save()
        terminalreporter.write("\n" + measures.report())


@pytest.fixture(scope="session")
def browser():
    from selenium import webdriver
    from selenium.webdriver.chrome.service import Service

    SHOTS.mkdir(parents=True, exist_ok=True)
    options = webdriver.ChromeOptions()
    for word in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"):
        options.add_argument(word)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    browser = webdriver.Chrome(options=options, service=Service(shutil.which("chromedriver")))
    browser.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source": COUNT_REQUESTS})
    yield browser
    browser.quit()


@pytest.fixture
def page(browser, server):
    page = Page(browser, server)
    page.errors()
    yield page
    assert page.errors() == []
