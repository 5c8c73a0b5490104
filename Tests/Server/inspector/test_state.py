"""The tree and the record."""

from inspector_page import cambium
from selenium.webdriver import Keys


def keys(page):
    return page.run(
        "return [...document.querySelectorAll('#tree-list .row')].sort((a, b) =>"
        "a.dataset.index - b.dataset.index).map(e => e.querySelector('.key')?.innerText)"
    )


def test_the_tree_is_lazy(page):
    page.open("#/state")
    page.until(lambda: keys(page) == ["notes", "readings", "stations"])
    page.click("#tree-list .row", "readings")
    page.until(lambda: "000000" in keys(page))
    assert len(keys(page)) < 100

    # The list grows while its pages come, so that its end is further down each time.
    def is_at_end():
        page.run("document.getElementById('tree-list').scrollTop = 1e9")
        return "stations" in keys(page)

    page.until(is_at_end)
    page.shot("tree")


def test_a_filter_narrows_as_one_types(page):
    page.open("#/state?path=stations")
    page.click("#tree-list .row", "stations")
    page.until(lambda: "harbour" in keys(page))
    page.enter(".pane.state [data-search]", "so")
    page.until(lambda: "harbour" not in keys(page) and "south" in keys(page))
    page.keys(Keys.ENTER)
    page.until(lambda: page.parameters.get("path") == "stations/south")


def test_a_path_can_be_typed(page):
    page.open("#/state")
    page.enter(".pane.state [data-search]", "stations/ha")
    page.sees("stations/harbour", ".offers")
    page.keys(Keys.TAB, Keys.ENTER)
    page.until(lambda: page.parameters.get("path") == "stations/harbour")
    page.until(lambda: "harbour" in keys(page))
    page.click(".crumbs a", "stations")
    page.until(lambda: page.parameters.get("path") == "stations")


def test_changes_flash(page):
    page.open("#/state?path=stations/west")
    page.until(lambda: "west" in keys(page))
    page.settle()
    page.seen(".flash-changed .key")
    cambium("patch", page.server.database, "stations/west", '{"height": 1234}', "-q")
    page.was_seen("west")


def test_a_click_counts_though_the_list_is_drawn_anew(page):
    """What comes while the button is pressed draws all rows again."""
    page.open("#/state?path=stations/west")
    page.until(lambda: "east" in keys(page))
    page.settle()
    row = page.find("#tree-list .row", "east")
    page.run("window.pressed = arguments[0]", row)
    box = row.rect
    point = {"x": box["x"] + 40, "y": box["y"] + 8, "button": "left", "clickCount": 1}
    page.browser.execute_cdp_cmd("Input.dispatchMouseEvent", {"type": "mousePressed", **point})
    cambium("patch", page.server.database, "stations/west", '{"height": 4321}', "-q")
    page.until(lambda: not page.run("return window.pressed.isConnected"))
    page.browser.execute_cdp_cmd("Input.dispatchMouseEvent", {"type": "mouseReleased", **point})
    page.until(lambda: page.parameters.get("path") == "stations/east")


def test_a_record_has_values_types_and_blame(page):
    page.open("#/state?path=notes/fog")
    page.sees("from the shift", ".version-list")
    rows = page.run("""return Object.fromEntries([...document.querySelectorAll('[data-property]')]
      .map(row => [row.dataset.property, row.innerText]))""")
    assert "ben" in rows["text"] and "anna" in rows["title"]
    assert "→ stations" in rows["about"]
    blame = {line["property"]: line["sequence"] for line in page.json("/v1/blame?path=notes/fog")}
    page.click("[data-property=text] .blame a")
    page.until(lambda: page.parameters.get("tx") == str(blame["text"]))
    page.sees("ten", ".detail ins")
    page.shot("record")


def test_references_lead_there_and_back(page):
    page.open("#/state?path=notes/fog")
    page.click(".reference", "north")
    page.until(lambda: page.parameters.get("path") == "stations/north")
    page.click(".references summary", "notes")
    page.click(".referring a", "fog")
    page.until(lambda: page.parameters.get("path") == "notes/fog")


def test_versions_are_a_strip_that_leads_into_the_past(page):
    page.open("#/state?path=stations/harbour")
    versions = page.json("/v1/history?path=stations/harbour")
    page.until(
        lambda: page.run("return document.querySelectorAll('.mark').length") == len(versions)
    )
    page.keys("b")
    page.until(lambda: page.parameters.get("at") == str(versions[-2]["sequence"]))
    page.keys("a")
    page.until(lambda: page.parameters.get("at") == str(versions[-1]["sequence"]))


def test_two_moments_are_compared(page):
    page.open("#/state?path=stations/harbour&cmp=1995..1998")
    page.sees("height", ".compare")
    expected = page.json("/v1/diff?range=1995..1998&path=stations/harbour")[0]
    assert str(expected["old"]["height"]) in page.text(".compare .old")
    assert str(expected["new"]["height"]) in page.text(".compare .new")
    page.shot("compare")


def test_what_a_transaction_changed_is_lit(page):
    version = page.json("/v1/history?path=stations/harbour")[-1]["sequence"]
    page.open(f"#/state?path=stations/harbour&tx={version}")
    page.until(
        lambda: page.run("return document.querySelector('.lit .key')?.innerText") == "harbour"
    )


def test_nothing_is_said_of_what_is_not_there(page):
    page.open("#/state?path=stations/nowhere")
    page.sees("Nothing is stored", ".properties")
    page.errors()
