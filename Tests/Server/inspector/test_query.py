"""Queries: table, plan, chart, saved rows, and a list that follows."""

import csv
import io
import json

from inspector_page import cambium
from selenium.webdriver import Keys


def cells(page, column):
    return page.run(
        """
      const names = [...document.querySelectorAll('.table-head [role=columnheader]')]
        .map(e => e.innerText.replace(/ [↑↓]$/, ''));
      return [...document.querySelectorAll('#results .row')]
        .sort((a, b) => a.dataset.index - b.dataset.index)
        .map(e => e.children[names.indexOf(arguments[0])]?.innerText)""",
        column,
    )


def saved(page):
    """Catches what would be downloaded."""
    page.run("""
      window.saved = [];
      URL.createObjectURL = (blob) => {
        blob.text().then((text) => window.saved.push(text));
        return 'blob:x';
      };
      HTMLAnchorElement.prototype.click = function () { window.savedAs = this.download };""")


def test_the_table_has_what_the_command_line_finds(page):
    query = 'readings where value > 900 and station = "north" sort -value, id limit 20'
    page.open("#/query")
    page.enter("textarea", query + Keys.ENTER)
    expected = [
        json.loads(line)
        for line in cambium("query", page.server.database, query, "--json").splitlines()
    ]
    page.until(lambda: cells(page, "id") == [row["id"] for row in expected])
    assert cells(page, "value") == [str(row["value"]) for row in expected]
    page.shot("query")


def test_it_is_endless(page):
    page.open("#/query?q=readings")
    page.sees("200+ rows")

    # It may not be drawn yet when its rows are counted.
    def is_at_end():
        page.run("document.getElementById('results').scrollTop = 1e9")
        return "399 rows" in page.text(".tools") or "398 rows" in page.text(".tools")

    page.until(is_at_end)
    assert len(cells(page, "id")) < 80


def test_columns_sort_and_hide(page):
    page.open("#/query?q=readings where value > 500")
    page.click(".table-head button", "value")
    page.until(lambda: page.parameters["q"].endswith("sort value"))
    page.until(lambda: cells(page, "value")[:20] == sorted(cells(page, "value")[:20], key=int))
    page.click(".table-head button", "value")
    page.until(lambda: page.parameters["q"].endswith("sort -value"))
    page.click(".columns summary")
    page.click(".choice label", "station")
    page.until(lambda: "station" not in page.text(".table-head"))
    assert page.parameters["hide"] == "station"


def test_the_field_completes(page):
    page.open("#/query")
    field = page.enter("textarea", "rea")
    page.sees("readings", ".offers")
    page.keys(Keys.TAB)
    page.keys(" where sta")
    page.sees("station", ".offers")
    page.keys(Keys.ARROW_DOWN, Keys.ENTER)
    assert field.get_attribute("value") == "readings where station"


def test_a_mistake_is_said(page):
    page.open("#/query?q=readings whree value")
    page.sees("expected a clause", ".mistake")
    page.errors()


def test_the_plan_is_drawn_with_its_reason(page):
    page.open("#/query?q=readings where checked = true and value = 7&tab=plan")
    page.sees("It looked at", ".plan")
    assert "estimated" in page.text(".plan")
    page.shot("plan")
    page.run("location.hash = '#/query?q=readings where station = \"north\" limit 5&tab=plan'")
    page.sees("index", ".plan-step")
    page.until(lambda: not page.run("return document.querySelector('.plan .problem')"))


def test_groups_are_a_chart_and_lead_to_their_records(page):
    query = "readings | group by station select count, sum(value)"
    page.open(f"#/query?q={query}&tab=chart")
    page.until(lambda: page.run("return document.querySelectorAll('.chart rect').length") == 5)
    page.shot("chart")
    page.click("[role=tab]", "Table")
    page.click("#results .row", "harbour")
    page.until(lambda: page.parameters["q"] == 'readings where station = "harbour"')


def test_what_is_seen_is_saved(page):
    page.open('#/query?q=readings where station = "west" sort id limit 7&hide=checked')
    page.until(lambda: len(cells(page, "id")) == 7)
    saved(page)
    page.keys("x")
    text = page.until(lambda: page.run("return window.saved[0]"))
    found = list(csv.DictReader(io.StringIO(text)))
    assert [row["id"] for row in found] == cells(page, "id")
    assert list(found[0]) == ["id", "station", "value"]
    page.click(".tools button", "JSON lines")
    text = page.until(lambda: page.run("return window.saved[1]"))
    assert [json.loads(line)["value"] for line in text.splitlines()] == [
        int(row["value"]) for row in found
    ]
    assert page.run("return window.savedAs") == "readings.jsonl"


def test_a_live_query_follows_a_second_process(page):
    page.open("#/query?q=stations sort -height&live=1")
    page.sees("live", ".tools .note")
    page.until(lambda: len(cells(page, "id")) == 5)
    cambium("patch", page.server.database, "stations/west", '{"height": 9000}', "-q")
    page.until(lambda: cells(page, "id")[0] == "west" and cells(page, "height")[0] == "9000")
    page.seen(".flash-added")
    cambium("put", page.server.database, "stations/new", '{"name": "New", "height": 9001}', "-q")
    page.until(lambda: cells(page, "id")[:2] == ["new", "west"])
    page.was_seen("New")
    page.shot("live")
    cambium("delete", page.server.database, "stations/new", "-q")
    page.until(lambda: cells(page, "id")[0] == "west")
    cambium("patch", page.server.database, "stations/west", '{"height": 1}', "-q")
    page.until(lambda: cells(page, "id")[0] != "west")


def test_the_past_can_be_asked(page):
    page.open("#/query?q=stations sort id&at=3")
    page.until(lambda: cells(page, "name") and "Station North" in cells(page, "name"))
    page.run("location.hash = '#/query?q=stations sort id'")
    page.until(lambda: "The North" in cells(page, "name"))


def test_a_live_query_waits_while_the_past_is_shown(page):
    page.open("#/query?q=stations sort id&live=1&at=3")
    page.sees("live again at Now", ".tools .note")
    page.until(lambda: "Station North" in cells(page, "name"))
    page.keys("n")
    page.sees("rows · live · tx", ".tools .note")
    page.until(lambda: "The North" in cells(page, "name"))
    cambium("patch", page.server.database, "stations/west", '{"name": "Far West"}', "-q")
    page.until(lambda: "Far West" in cells(page, "name"))
    page.run("location.hash = '#/query?q=stations sort id&live=1&at=3'")
    page.until(lambda: "Station West" in cells(page, "name"))
