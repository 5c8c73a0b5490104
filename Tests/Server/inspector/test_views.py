"""Sizes, schema and health, and what all views have: an address, JSON, a command."""

import json
import shlex
import subprocess
import urllib.request

import pytest
from inspector_page import CAMBIUM, cambium

VIEWS = {
    "log": "#/log?tx=1995",
    "state": "#/state?path=stations/harbour",
    "query": "#/query?q=stations",
    "sizes": "#/sizes",
    "schema": "#/schema",
    "health": "#/health",
}


def test_sizes_are_all_bytes(page):
    page.open("#/sizes")
    lines = page.json("/v1/info?by=collection,property&limit=1000")
    page.sees("readings", ".treemap")
    areas = page.run("""return Object.fromEntries([...document.querySelectorAll('.tile.top')]
      .map(e => [e.querySelector('button').ariaLabel.split(',')[0],
        e.offsetWidth * e.offsetHeight]))""")
    sums = {}
    for line in lines:
        name = line.get("collection") or f"({line['use']})"
        sums[name] = sums.get(name, 0) + line["bytes"]
    largest = max(sums, key=sums.get)
    assert areas[largest] == max(areas.values())
    share = sums[largest] / sum(sums.values())
    assert abs(areas[largest] / sum(areas.values()) - share) < 0.05
    page.shot("sizes")
    page.run("arguments[0].click()", page.find(".tile-name", "readings"))
    page.until(lambda: page.parameters.get("in") == "readings")
    page.sees("value", ".sizes-list")


def test_compaction_is_only_tried(page):
    page.open("#/sizes")
    page.enter("#keep", "100")
    page.click("button", "What would compaction save?")
    page.sees("→", ".saving")
    assert page.json("/v1/info")[0]["horizon"] == 0


def test_the_schema_is_drawn(page):
    page.open("#/schema")
    page.sees("index station, -value", '[data-collection="readings"]')
    page.until(lambda: page.run("return document.querySelectorAll('.edges path').length") == 2)
    page.shot("schema")


def test_verify_says_how_it_is(page):
    page.open("#/health")
    page.click("button", "Verify")
    page.sees("Everything is sound", ".card", seconds=60)
    page.sees("generation", ".card")
    page.shot("health")
    page.errors()


def test_health_says_who_reads_and_where_a_rebuild_starts(page):
    page.open("#/health")
    for name, title in (("readers", "Readers"), ("checkpoints", "Checkpoints")):
        page.sees("cambium info", f'[aria-label="{title}"] code')
        page.sees(f"--{name}", f'[aria-label="{title}"] code')
        assert page.json(f"/v1/{name}") == []
        page.sees("none", f'[aria-label="{title}"] .note')
    page.errors()


def test_health_shows_a_reader_that_holds_a_moment(page, server):
    # A command whose output nobody takes holds the moment that it reads: more than a pipe takes.
    cambium("put", server.database, "long/text", json.dumps("x" * 100_000), "-q")
    words = [CAMBIUM, "tree", server.database, "long", "--json"]
    with subprocess.Popen(words, stdout=subprocess.PIPE) as reader:
        try:
            reader.stdout.read(1)
            cambium("delete", server.database, "long/text", "-q")
            page.open("#/health")
            page.sees(f"{reader.pid}", '[aria-label="Readers"] tbody')
            [cells] = page.run(
                """return [...document.querySelectorAll('[aria-label="Readers"] tbody tr')]
                  .map(row => [...row.cells].map(cell => cell.innerText))
                  .filter(cells => cells[0] === arguments[0])""",
                str(reader.pid),
            )
            [row] = [row for row in page.json("/v1/readers") if row["process"] == reader.pid]
            assert row["behind"] == 1
            assert (cells[1], cells[3]) == (row["environment"], "1")
        finally:
            reader.kill()
    page.errors()


def test_health_shows_checkpoints(page):
    # One is made after 64 MiB of log, so the answer is given here.
    page.open("#/log")
    page.run("""
      const asking = window.fetch;
      const line = '{"v":1,"sequence":1768,"behind":243,"bytes":148222976,'
        + '"made":"2026-11-27T23:20:08.000Z"}';
      window.fetch = (path, ...others) => String(path).startsWith("/v1/checkpoints")
        ? Promise.resolve(new Response(line)) : asking(path, ...others);
      location.hash = "#/health";""")
    for text in ("1,768", "243", "148.2 MB", "2026-11-2"):
        page.sees(text, '[aria-label="Checkpoints"] tbody')
    page.errors()


@pytest.mark.parametrize("view", VIEWS)
def test_each_view_has_an_address_json_and_a_command(page, view):
    page.open(VIEWS[view])
    page.settle()
    pane = f".pane.{view}"
    found = page.run(
        """return [...document.querySelectorAll(arguments[0] + ' .source')]
      .filter(e => e.checkVisibility())
      .map(e => [e.querySelector('a').href, e.querySelector('code').innerText])""",
        pane,
    )
    assert found
    for address, command in found:
        words = shlex.split(command)
        assert words[0] == "cambium"
        assert words[2] == page.server.database.name
        words[2] = str(page.server.database)
        if "--readers" in words:
            # Another process sees the server from outside, and its own snapshots not at all.
            cambium(*words[1:], "--json")
            continue
        printed = (
            cambium(*words[1:], "--json").strip().splitlines() if "--explain" not in words else []
        )
        with urllib.request.urlopen(address, timeout=20) as answer:
            lines = answer.read().decode().strip().splitlines()
        assert [json.loads(line).keys() for line in printed] == [
            json.loads(line).keys() for line in lines
        ]
    page.errors()


@pytest.mark.parametrize("view", VIEWS)
def test_an_address_gives_the_same_view_elsewhere(page, view):
    def shown():
        page.open(VIEWS[view])
        return page.text(f".pane.{view}")

    if view == "health":
        # It shows what the engine is doing by itself, such as a reader, once and not again.
        page.until(lambda: shown() == shown(), seconds=30)
    else:
        first = shown()
        page.open(VIEWS[view])
        page.until(lambda: page.text(f".pane.{view}") == first)
    page.errors()


def test_back_and_forward(page):
    page.open("#/log")
    page.keys("2")
    page.until(lambda: page.parameters["view"] == "state")
    page.keys("3")
    page.until(lambda: page.parameters["view"] == "query")
    page.browser.back()
    page.until(lambda: page.parameters["view"] == "state" and page.find(".pane.state"))
    page.browser.forward()
    page.until(lambda: page.parameters["view"] == "query" and page.find(".pane.query"))


def test_the_page_loads_nothing_from_elsewhere(page):
    page.open("#/state?path=notes/fog")
    names = page.run("return performance.getEntriesByType('resource').map(e => e.name)")
    assert names and all(name.startswith(page.server.url) for name in names)
    with urllib.request.urlopen(page.server.url + "/", timeout=10) as answer:
        policy = answer.headers["Content-Security-Policy"]
    assert policy.startswith("default-src 'none'; script-src 'self'; style-src 'self'")


def test_the_program_is_there():
    assert CAMBIUM
