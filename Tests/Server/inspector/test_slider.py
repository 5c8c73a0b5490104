"""The slider is dragged over the whole log, at thirty positions a second for three seconds.

The page says of each of its parts which moment it shows. From that follow the delays that are
printed, and what must be right however slow a machine is: the last moment that was asked for is
the last that is shown, and no older one takes the place of a newer one.
"""

import time

import measures
import pytest
from inspector_page import Page

POSITIONS = 90
PER_SECOND = 30
PARTS = {"moment": "#time .moment", "tree": "#tree-list", "record": ".properties"}

# Notes when the pointer came to each position, and in which frame each part showed a moment.
WATCH = """
const shown = Object.fromEntries(Object.keys(arguments[0]).map((part) => [part, []]));
window.slid = { asked: [], shown };
const slider = document.getElementById('slider');
let moved = 0;
for (const name of ['pointerdown', 'pointermove']) {
  addEventListener(name, () => moved = performance.now(), { capture: true });
}
new MutationObserver(() => slid.asked.push([Number(slider.ariaValueNow), moved]))
  .observe(slider, { attributeFilter: ['aria-valuenow'] });
for (const [part, selector] of Object.entries(arguments[0])) {
  const element = document.querySelector(selector);
  let last;
  new MutationObserver(() => {
    const { moment } = element.dataset;
    if (moment === last) return;
    last = moment;
    requestAnimationFrame(() => shown[part].push([Number(moment), performance.now()]));
  }).observe(element, { attributeFilter: ['data-moment'] });
}
"""


@pytest.fixture
def page(browser, large):
    page = Page(browser, large)
    page.errors()
    yield page
    # A record that was not there yet is answered with 404.
    assert [one for one in page.errors() if "status of 404" not in one] == []


def mouse(page, kind, x, y):
    page.browser.execute_cdp_cmd(
        "Input.dispatchMouseEvent",
        {"type": kind, "x": x, "y": y, "button": "left", "buttons": 1, "clickCount": 1},
    )


def drag(page, count, end=0, to=0):
    """Drags the thumb from the track's right end to its left one, or to a share of it, and lets go
    at a share of it."""
    box = page.find(".track").rect
    # Below the flags, which are buttons.
    y = box["y"] + box["height"] - 8
    places = [1 - (1 - to) * index / count for index in range(count + 1)] + [end]
    mouse(page, "mousePressed", box["x"] + box["width"] - 1, y)
    start = time.monotonic()
    for index, place in enumerate(places):
        time.sleep(max(0, start + index / PER_SECOND - time.monotonic()))
        mouse(page, "mouseMoved", box["x"] + (box["width"] - 1) * place, y)
    mouse(page, "mouseReleased", box["x"] + (box["width"] - 1) * end, y)


def delays(asked, shown):
    """The milliseconds from each position until it, or a newer one, is shown."""
    order = {moment: index for index, (moment, _) in enumerate(asked)}
    seen = [(order[moment], when) for moment, when in shown if moment in order]
    for index, (_, since) in enumerate(asked):
        yield next(when for place, when in seen if place >= index and when >= since) - since


def test_each_position_of_a_drag_is_shown(page):
    page.open("#/state?path=readings/000007")
    page.sees("000007", "#tree-list")
    watch_drag(page, PARTS)


def test_each_position_of_a_drag_is_asked(page):
    """The rows of a query that is at its end after a few hundred records."""
    page.open("#/query?q=readings where checked = true limit 50")
    page.sees("true", "#results")
    # Before the first reading there is no collection, which is said in place of rows.
    watch_drag(page, {"query": ".panel"}, to=0.05)


@pytest.mark.parametrize("part, seconds", [("chart, at once", 0), ("chart", 1)])
def test_a_chart_follows_a_drag(page, part, seconds):
    """Each moment's chart is made of all readings of then. A hand takes a second to the slider, in
    which the server makes a timeline."""
    # Another question, so that the second drag does not find the timeline of the first.
    condition = "" if seconds else " where value >= 0"
    page.open(f"#/query?q=readings{condition} | group by station select count&tab=chart")
    page.until(lambda: page.run("return document.querySelectorAll('.chart rect').length") == 5)
    time.sleep(seconds)
    watch_drag(page, {part: ".panel"}, to=0.05)


def watch_drag(page, parts, to=0):
    page.run(WATCH, parts)
    drag(page, POSITIONS, end=to, to=to)
    asked = page.run("return slid.asked")
    last = asked[-1][0]
    for selector in parts.values():
        page.until(
            lambda: page.run(
                "return Number(document.querySelector(arguments[0]).dataset.moment)", selector
            )
            == last
        )
    page.settle()
    slid = page.run("return slid")
    order = [moment for moment, _ in asked]
    assert len(order) > 1
    assert order == sorted(set(order), reverse=True)
    for part, shown in slid["shown"].items():
        moments = [moment for moment, _ in shown if moment in order]
        assert moments == sorted(moments, reverse=True), part
        assert moments[-1] == last
        measures.delays[part] = (len(moments), list(delays(asked, shown)))


def test_a_slow_answer_does_not_delay_the_newest(page):
    """Of two that are slow in turn one is waited for, so that a long drag shows something, too."""
    page.open("#/log")
    ran = page.browser.execute_async_script("""
      const done = arguments[0];
      import('/api.js').then(async ({ newest }) => {
        const ran = [];
        const ask = newest(async (name, signal) => {
          ran.push(name);
          if (name === 'slow') ask('between');
          if (name === 'newest') ask('last');
          await new Promise((end) => {
            signal.addEventListener('abort', end);
            if (name !== 'slow') setTimeout(end, 500);
          });
          ran.push(signal.aborted ? 'ended' : 'shown');
          if (name === 'last') done(ran);
        });
        ask('slow');
        ask('newest');
      });""")
    assert ran == ["slow", "ended", "newest", "shown", "last", "shown"]


def test_what_is_shown_after_a_drag_is_that_moment(page):
    page.open("#/state?path=readings/000007")
    page.sees("value", ".properties")
    drag(page, POSITIONS, end=0.5)
    at = page.until(
        lambda: abs(int(page.parameters.get("at", 0)) - page.head / 2) < page.head / 100
        and page.parameters["at"]
    )
    page.until(
        lambda: page.run("return document.querySelector('.properties').dataset.moment") == at
    )
    [then] = page.json(f"/v1/tree?path=readings/000007&depth=0&at={at}")
    cells = page.run("""return Object.fromEntries([...document.querySelectorAll('[data-property]')]
      .map(e => [e.dataset.property, e.querySelector('.cell').innerText]))""")
    assert cells["value"] == str(then["value"]["value"])
    for line in page.json(f"/v1/blame?path=readings/000007&at={at}"):
        blamed = page.text(f"[data-property={line['property']}] .blame")
        assert blamed.startswith(f"tx {line['sequence']:,} ")
