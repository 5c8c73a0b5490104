"""A database, a server and a browser for the tests of the inspector.

The browser is Debian's chromium with chromium-driver; where there is none, or no `cambium serve`,
all tests are skipped, and counted so. The environment may name what is used:

    CAMBIUM                          the program; else the newest one in .build
    CAMBIUM_SERVE                    what serves instead of `cambium serve`, for work on the page
    CAMBIUM_INSPECTOR_TRANSACTIONS   the length of the log of the twelve tasks; else 2,000
    CAMBIUM_INSPECTOR_DB             a database of that length, made by readings.py

Screenshots are left in .build/inspector for a person to look at.
"""

import json
import os
import pathlib
import re
import shlex
import shutil
import signal
import socket
import subprocess
import time
import urllib.parse
import urllib.request

ROOT = pathlib.Path(__file__).resolve().parents[3]
SHOTS = ROOT / ".build" / "inspector"


def find_cambium():
    if "CAMBIUM" in os.environ:
        return os.environ["CAMBIUM"]
    found = [
        p
        for p in (ROOT / ".build" / "debug" / "cambium", ROOT / ".build" / "release" / "cambium")
        if p.exists()
    ]
    return str(max(found, key=lambda path: path.stat().st_mtime)) if found else None


CAMBIUM = find_cambium()


def missing():
    """What the tests need and is not there."""
    try:
        import selenium  # noqa: F401
    except ImportError:
        return "selenium is not installed"
    if not shutil.which("chromium") or not shutil.which("chromedriver"):
        return "no chromium with chromium-driver"
    if not CAMBIUM:
        return "cambium is not built"
    if (
        "CAMBIUM_SERVE" not in os.environ
        and subprocess.run(
            [CAMBIUM, "serve", "--help"], capture_output=True, check=False
        ).returncode
        != 0
    ):
        return "cambium has no serve"
    return None


class Server:
    """A server of one database."""

    def __init__(self, database, *options):
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
        command = os.environ.get("CAMBIUM_SERVE")
        words = shlex.split(command) if command else [CAMBIUM, "serve"]
        self.database = database
        self.url = f"http://127.0.0.1:{port}"
        self.process = subprocess.Popen([*words, str(database), "--port", str(port), *options])
        deadline = time.monotonic() + 20
        while True:
            try:
                with urllib.request.urlopen(self.url, timeout=5):
                    return
            except OSError:
                if time.monotonic() > deadline or self.process.poll() is not None:
                    raise
                time.sleep(0.05)

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(20)


def cambium(*words, text=None):
    """Runs the command line, as a second process beside the server."""
    done = subprocess.run(
        [CAMBIUM, *map(str, words)], input=text, text=True, capture_output=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


# Counts the requests that are not answered yet.
COUNT_REQUESTS = """
const fetching = window.fetch;
window.running = 0;
window.fetch = (...values) => {
  window.running += 1;
  return fetching(...values).finally(() => window.running -= 1);
};
"""


class Page:
    """The inspector in the browser: what a person sees of it and does to it."""

    def __init__(self, browser, server):
        self.browser = browser
        self.server = server
        # The page before may still ask a server that has ended.
        browser.get("about:blank")
        self.size(1400, 900)
        self.scheme("light")

    def size(self, width, height):
        self.browser.execute_cdp_cmd(
            "Emulation.setDeviceMetricsOverride",
            {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False},
        )

    def scheme(self, name):
        self.browser.execute_cdp_cmd(
            "Emulation.setEmulatedMedia",
            {"features": [{"name": "prefers-color-scheme", "value": name}]},
        )

    def open(self, hash_="#/log"):
        self.browser.get("about:blank")
        self.browser.get(f"{self.server.url}/{hash_}")
        self.until(lambda: self.run("return document.querySelectorAll('.pane').length > 0"))
        self.settle()

    def run(self, script, *values):
        return self.browser.execute_script(script, *values)

    def until(self, condition, seconds=10):
        deadline = time.monotonic() + seconds
        while True:
            found = condition()
            if found:
                return found
            assert time.monotonic() < deadline, self.text("dialog, main")[-2500:]
            time.sleep(0.01)

    def sees(self, text, selector="body", seconds=10):
        """Waits until a text is shown."""
        self.until(lambda: text in self.text(selector), seconds)

    def text(self, selector):
        return self.run(
            "return [...document.querySelectorAll(arguments[0])]"
            ".map(e => e.innerText).join('\\n')",
            selector,
        )

    def settle(self):
        """Waits until no request has been running for a moment."""
        before = None
        while True:
            now = self.run(
                "return [performance.getEntriesByType('resource').length, window.running ?? 0,"
                " document.querySelector('main').innerText.length]"
            )
            if now == before and now[1] == 0:
                return
            before = now
            time.sleep(0.15)

    def seen(self, selector):
        """Keeps the text of what is there for a short time only; `was_seen` waits for it."""
        self.run(
            """
          const selector = arguments[0];
          window.seenTexts = new Set();
          new MutationObserver(() => document.querySelectorAll(selector).forEach(
            (e) => window.seenTexts.add(e.innerText)))
            .observe(document.body, { subtree: true, childList: true, attributes: true });""",
            selector,
        )

    def was_seen(self, text):
        self.until(lambda: text in self.run("return [...window.seenTexts].join('\\n')"))

    def find(self, selector, text=None):
        """The first visible element, whose text or accessible name holds `text`."""
        return self.until(
            lambda: self.run(
                """
            return [...document.querySelectorAll(arguments[0])].find(e => e.checkVisibility()
              && (!arguments[1] || (e.innerText + ' ' + (e.getAttribute('aria-label') ?? ''))
                .includes(arguments[1])))""",
                selector,
                text,
            )
        )

    def click(self, selector, text=None):
        from selenium.common.exceptions import StaleElementReferenceException

        for _ in range(20):
            try:
                return self.find(selector, text).click()
            except StaleElementReferenceException:
                # It was drawn again in between.
                time.sleep(0.05)
        return self.find(selector, text).click()

    def keys(self, *keys):
        from selenium.webdriver import ActionChains

        ActionChains(self.browser, duration=0).send_keys(*keys).perform()

    def chord(self, key):
        from selenium.webdriver import ActionChains, Keys

        ActionChains(self.browser, duration=0).key_down(Keys.CONTROL).send_keys(key).key_up(
            Keys.CONTROL
        ).perform()

    def enter(self, selector, text):
        """Puts a text in the place of what a field holds, as if it were typed."""
        field = self.find(selector)
        field.click()
        self.run("arguments[0].select?.()", field)
        field.send_keys(text)
        return field

    @property
    def parameters(self):
        """The view and the parameters that the address names."""
        hash_ = self.run("return location.hash")
        view, _, query = hash_.removeprefix("#/").partition("?")
        found = dict(urllib.parse.parse_qsl(query))
        found["view"] = view
        return found

    def json(self, path):
        with urllib.request.urlopen(self.server.url + path, timeout=10) as answer:
            return [json.loads(line) for line in answer.read().splitlines() if line]

    @property
    def head(self):
        return self.json("/v1/info")[0]["head"]

    def shot(self, name):
        self.browser.save_screenshot(str(SHOTS / f"{re.sub('[^a-z0-9-]+', '-', name)}.png"))

    def errors(self):
        return [
            entry["message"]
            for entry in self.browser.get_log("browser")
            if entry["level"] == "SEVERE"
        ]
