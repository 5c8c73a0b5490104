"""A log of 10,000,000 transactions: the page is the server's own, and what it asks for is made up
here, so that the list is tried at a length for which no database is made in a gate."""

import http.server
import json
import threading
import urllib.parse
import urllib.request

import pytest
from inspector_page import Page
from selenium.webdriver import Keys

HEAD = 10_000_000


class LongLog(http.server.BaseHTTPRequestHandler):
    """Answers /v1/ for a log that is not there, and passes on everything else."""

    protocol_version = "HTTP/1.1"
    real = ""
    asked = []

    def log_message(self, *_):
        pass

    def do_GET(self):
        path, _, query = self.path.partition("?")
        found = dict(urllib.parse.parse_qsl(query, keep_blank_values=True))
        if not path.startswith("/v1/"):
            with urllib.request.urlopen(self.real + self.path, timeout=10) as answer:
                return self.send(answer.read(), answer.headers["Content-Type"])
        known = {"info": self.info, "log": self.log, "server": self.about}
        lines = known.get(path[4:], lambda _: [])(found)
        if path == "/v1/changes":
            return self.send(b": here\n\n", "text/event-stream")
        return self.send(
            "".join(json.dumps(line) + "\n" for line in lines).encode(), "application/jsonl"
        )

    def send(self, body, kind):
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def info(self, _):
        return [
            {"head": HEAD, "horizon": 0, "path": "long.cambium", "first": "2026-01-01T00:00:00Z"}
        ]

    def about(self, _):
        return [{"database": "long.cambium", "write": False, "head": HEAD, "scope": ""}]

    def log(self, found):
        since = int(found.get("since", 0))
        until = min(int(found.get("until", HEAD)), HEAD)
        numbers = range(since + 1, until + 1)
        if "limit" in found:
            numbers = numbers[-int(found["limit"]) :]
        if "reverse" in found:
            numbers = reversed(numbers)
        LongLog.asked.append(until - since)
        return [
            {
                "sequence": n,
                "time": "2026-01-01T00:00:00Z",
                "metadata": {"actor": f"a{n % 7}"},
                "operations": 1,
            }
            for n in numbers
        ]


@pytest.fixture
def page(browser, server):
    LongLog.real = server.url
    LongLog.asked = []
    listener = http.server.ThreadingHTTPServer(("127.0.0.1", 0), LongLog)
    threading.Thread(target=listener.serve_forever, daemon=True).start()
    page = Page(browser, server)
    page.server = type("Fake", (), {"url": f"http://127.0.0.1:{listener.server_port}"})
    yield page
    page.browser.get("about:blank")
    listener.shutdown()
    page.errors()


def rows(page):
    """The numbers of the rows that lie within the list, and that have come."""
    return page.run("""const list = document.getElementById('log-list').getBoundingClientRect();
      return [...document.querySelectorAll('#log-list .row')]
        .filter(e => e.getBoundingClientRect().bottom > list.top
          && e.getBoundingClientRect().top < list.bottom && e.querySelector('.actor').innerText)
        .map(e => Number(e.querySelector('.sequence').innerText.replaceAll(',', '')))
        .sort((a, b) => a - b)""")


def holds(page, number):
    page.until(lambda: number in rows(page))
    found = rows(page)
    assert found == list(range(found[0], found[-1] + 1))
    assert page.run("return document.querySelectorAll('#log-list .row').length") < 80


def test_each_end_and_any_place_between_are_reached(page):
    page.open("#/log")
    holds(page, HEAD)
    page.run("document.getElementById('log-list').focus()")
    page.keys(Keys.HOME)
    holds(page, 1)
    page.keys(Keys.ARROW_DOWN * 40)
    holds(page, 41)
    page.keys(Keys.END)
    holds(page, HEAD)
    page.keys(Keys.PAGE_UP)
    page.run("""const list = document.getElementById('log-list');
      list.scrollTop = (list.scrollHeight - list.clientHeight) / 2""")
    page.until(lambda: rows(page) and abs(rows(page)[0] - HEAD / 2) < HEAD / 1000)
    assert max(LongLog.asked) <= 1000


def test_a_wheel_moves_by_rows_and_not_by_thousands(page):
    page.open("#/log?tx=5000000")
    holds(page, 5_000_000)
    top = rows(page)[0]
    for turn in range(1, 6):
        page.run("document.getElementById('log-list').scrollTop += 240")
        page.until(lambda turn=turn: rows(page) and rows(page)[0] == top + 10 * turn)
    for _ in range(10):
        page.run("document.getElementById('log-list').scrollTop -= 240")
    page.settle()
    assert abs(rows(page)[0] - (top - 50)) < 60


def test_the_slider_spans_it_and_zooms_to_single_transactions(page):
    page.open("#/log?at=5000000")
    ticks = page.run("return document.querySelectorAll('.ticks line').length")
    assert 50 < ticks < 1000
    page.keys(".")
    for _ in range(20):
        page.keys("+")
    page.until(lambda: page.run("return document.querySelectorAll('.ticks line').length") <= 25)
    page.keys(Keys.ARROW_RIGHT)
    page.until(lambda: page.parameters["at"] == "5000001")
