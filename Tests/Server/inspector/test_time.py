"""The slider for time, above everything."""

from inspector_page import cambium
from selenium.webdriver import Keys


def at(page):
    return int(page.parameters.get("at", -1))


def test_a_drag_shows_each_moment(page):
    page.open("#/state?path=stations/harbour")
    page.sees("height", ".properties")
    box = page.find(".track").rect

    def mouse(kind, x):
        point = {
            "x": x,
            "y": box["y"] + box["height"] - 8,
            "button": "left",
            "buttons": 1,
            "clickCount": 1,
        }
        page.browser.execute_cdp_cmd("Input.dispatchMouseEvent", {"type": kind, **point})
        return page.until(
            lambda: abs(at(page) - page.head * (x - box["x"]) / box["width"]) < 2 and at(page)
        )

    first = box["x"] + int(box["width"] / 2)
    moments = [mouse("mousePressed", first)]
    moments += [mouse("mouseMoved", first - 5 * step) for step in range(1, 61)]
    mouse("mouseReleased", first - 5 * 60)
    assert moments == sorted(set(moments), reverse=True)
    page.until(lambda: "in-past" in page.run("return document.body.className"))
    page.shot("slider")


def test_a_moment_shows_the_values_of_then(page):
    page.open("#/state?path=stations/harbour")
    versions = page.json("/v1/history?path=stations/harbour")
    for version in versions[-4:]:
        page.run(
            "location.hash = arguments[0]",
            f"#/state?path=stations/harbour&at={version['sequence']}",
        )
        height = version["new"]["height"]
        page.until(
            lambda: page.run(
                "return document.querySelector('[data-property=height] .cell')?.innerText"
            )
            == str(height)
        )


def test_what_has_no_past_says_so(page):
    shown = "return document.querySelector('.of-now')?.checkVisibility()"
    for view in ("sizes", "health"):
        page.open(f"#/{view}?at=5")
        assert "now" in page.text(".of-now")
        page.open(f"#/{view}")
        page.until(lambda: page.run(shown) is False)


def test_steps_tags_and_now(page):
    page.open("#/log")
    page.click(".flag", "first-half")
    page.until(lambda: at(page) == 1000)
    page.keys("]")
    page.until(lambda: at(page) == 1001)
    page.keys("[[")
    page.until(lambda: at(page) == 999)
    page.click("#time button", "Now")
    page.until(lambda: "at" not in page.parameters)


def test_a_moment_is_written_as_in_the_command_line(page):
    page.open("#/log")
    for word, expected in [("HEAD~5", page.head - 5), ("tag:surveyed", 1998), ("7", 7)]:
        page.enter("#jump", word + Keys.ENTER)
        page.until(lambda: at(page) == expected)
    page.enter("#jump", "the day before never" + Keys.ENTER)
    page.sees("never", "#time .problem")
    page.errors()


def test_keys_move_the_slider(page):
    page.open("#/log")
    page.keys(".", Keys.ARROW_LEFT)
    page.until(lambda: at(page) == page.head - 1)
    page.keys(Keys.HOME)
    page.until(lambda: at(page) == 0)
    slider = page.find("#slider")
    assert slider.get_attribute("aria-valuenow") == "0"
    assert "transaction 0" in slider.get_attribute("aria-valuetext")
    page.keys(Keys.END)
    page.until(lambda: "at" not in page.parameters)


def test_steps_go_on_where_a_browser_refuses_more_changes_of_the_address(page):
    """Chromium lets a page change its address 200 times in ten seconds."""
    page.open("#/state?path=stations/harbour")
    page.run("""
      for (let step = 0; step < 400; step += 1) {
        document.getElementById('slider').dispatchEvent(
          new KeyboardEvent('keydown', { key: 'ArrowLeft' }));
      }""")
    page.until(lambda: at(page) == page.head - 400)


def test_it_plays_and_pauses(page):
    page.open("#/log?at=1")
    page.keys("p")
    page.until(lambda: at(page) > 20)
    page.keys("p")
    slider = page.find("#slider")
    page.until(lambda: at(page) == int(slider.get_attribute("aria-valuenow")))
    stopped = at(page)
    page.settle()
    assert at(page) == stopped


def test_now_follows_and_the_past_stays(page):
    page.open("#/state?path=stations/west")
    page.sees("height", ".properties")
    cambium("patch", page.server.database, "stations/west", '{"height": 4321}', "-q")
    page.sees("4321", ".properties")
    page.run("location.hash = '#/state?path=stations/west&at=5'")
    page.until(lambda: "4321" not in page.text(".properties"))
    cambium("patch", page.server.database, "stations/west", '{"height": 8765}', "-q")
    page.until(lambda: f"{page.head:,} transactions" in page.text("#status"))
    page.settle()
    assert "8765" not in page.text(".properties")
