"""For everybody: keys alone, names and roles, contrast, both schemes, three widths."""

import pytest
from selenium.webdriver import Keys
from test_views import VIEWS

# What a screen reader would meet without a name, and colours that are too near to each other; after
# axe's rules `button-name`, `link-name`, `label`, `aria-valid-attr-value`, `color-contrast`.
CHECKS = """
const found = [];
const seen = (e) => e.checkVisibility({ opacityProperty: true, visibilityProperty: true })
  && !e.closest('[aria-hidden=true]');
const name = (e) => (e.getAttribute('aria-label')
  ?? (e.getAttribute('aria-labelledby')
    ? document.getElementById(e.getAttribute('aria-labelledby'))?.innerText : null)
  ?? (e.labels?.length ? e.labels[0].innerText : null) ?? e.innerText ?? '').trim()
  || (e.getAttribute('title') ?? '').trim();
const where = (e) => e.outerHTML.slice(0, 140);
for (const e of document.querySelectorAll('a[href], button, input, select, textarea, summary, '
    + '[tabindex="0"], [role=img], [role=slider], [role=listbox], [role=tree], [role=grid], '
    + 'section, '
    + 'nav, meter, progress')) {
  if (seen(e) && !name(e)) found.push('no name: ' + where(e));
}
for (const e of document.querySelectorAll('[aria-controls], [aria-describedby], '
    + '[aria-activedescendant]')) {
  for (const attribute of ['aria-controls', 'aria-describedby', 'aria-activedescendant']) {
    const id = e.getAttribute(attribute);
    if (id && seen(e) && !document.getElementById(id)) {
      found.push(attribute + ' of nothing: ' + where(e));
    }
  }
}
const parents = { option: 'listbox', treeitem: 'tree', row: 'grid, .table', gridcell: '[role=row]',
  columnheader: '[role=row]', tab: '[role=tablist]' };
for (const [role, parent] of Object.entries(parents)) {
  const selector = parent.includes('[') || parent.includes('.')
    ? parent.replace('grid', '[role=grid]') : `[role=${parent}]`;
  for (const e of document.querySelectorAll(`[role=${role}]`)) {
    if (!e.parentElement.closest(selector)) found.push(`${role} outside ${parent}: ` + where(e));
  }
}
const ids = [...document.querySelectorAll('[id]')].map((e) => e.id);
for (const id of new Set(ids.filter((id, i) => ids.indexOf(id) !== i))) {
  found.push('id twice: ' + id);
}
const rgb = (text) => (text.match(/[\\d.]+/g) ?? []).map(Number);
const luminance = (c) => c.slice(0, 3).map((v) => v / 255)
  .map((v) => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)
  .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
const ground = (e) => {
  for (let at = e; at; at = at.parentElement) {
    const c = rgb(getComputedStyle(at).backgroundColor);
    if (c.length === 3 || c[3] === 1) return c;
  }
  return [255, 255, 255];
};
const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
const done = new Set();
while (walker.nextNode()) {
  const e = walker.currentNode.parentElement;
  if (!walker.currentNode.data.trim() || done.has(e) || !seen(e)
    || e.closest('.hidden, noscript, :disabled')) continue;
  done.add(e);
  const style = getComputedStyle(e);
  const colour = e.closest('svg') ? style.fill : style.color;
  const [a, b] = [luminance(rgb(colour)), luminance(ground(e))];
  const contrast = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
  if (contrast < 4.5) found.push(`contrast ${contrast.toFixed(2)}: ` + where(e));
}
return { found: found.slice(0, 20), texts: done.size };
"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("view", VIEWS)
def test_names_roles_and_contrast(page, view, scheme):
    page.scheme(scheme)
    for hash_ in (VIEWS[view], VIEWS[view] + ("&" if "?" in VIEWS[view] else "?") + "at=1000"):
        page.open(hash_)
        result = page.run(CHECKS)
        assert result["found"] == []
        assert result["texts"] > 20
    page.shot(f"{view}-{scheme}")
    page.errors()


def test_the_checks_find_what_is_planted(page):
    page.open("#/log")
    page.run("""document.querySelector('main').insertAdjacentHTML('beforeend',
      '<button></button><p id="faint">faint</p><div role="option">x</div><i id="main"></i>');
      document.getElementById('faint').style.color = '#ccc';""")
    found = " ".join(page.run(CHECKS)["found"])
    for mistake in ("no name", "contrast", "option outside", "id twice"):
        assert mistake in found


@pytest.mark.parametrize("width", [360, 1280, 2560])
@pytest.mark.parametrize("view", VIEWS)
def test_each_width_shows_all_without_scrolling_sideways(page, view, width):
    page.size(width, 800)
    page.open(VIEWS[view])
    assert page.run("return document.documentElement.scrollWidth") <= width
    assert page.run("return document.documentElement.scrollHeight") <= 800
    assert page.find(f".pane.{view}").rect["width"] >= 300
    page.shot(f"{view}-{width}")
    page.errors()


def test_two_panes_where_there_is_room(page):
    page.size(1400, 900)
    page.open("#/log")
    assert page.run("return document.querySelectorAll('.pane').length") == 2
    page.size(900, 900)
    page.until(lambda: page.run("return document.querySelectorAll('.pane').length") == 1)


def test_keys_alone_lead_from_the_log_to_a_saved_change(page):
    """Without the mouse: find a transaction, go to what it changed, edit it, save it."""
    head = page.head
    page.open("#/log")
    page.keys("/", "path=stations/harbour op=update", Keys.ENTER)
    page.sees("survey", "#log-list")
    page.keys(Keys.ESCAPE)
    page.run("document.getElementById('log-list').focus()")
    page.keys(Keys.END)
    page.until(lambda: "tx" in page.parameters)
    page.sees("stations/harbour", ".detail")
    page.keys("o")
    page.until(lambda: page.parameters["view"] == "state")
    page.keys("/", "stations/harbour", Keys.ENTER)
    page.until(lambda: page.parameters.get("path") == "stations/harbour")
    page.sees("height", ".properties")
    page.until(lambda: page.run("return document.querySelectorAll('.mark').length > 0"))
    page.keys(Keys.ESCAPE)
    page.run("document.activeElement.blur()")
    page.keys("e")
    page.until(lambda: page.run("return document.activeElement.matches('.editor')"))
    page.run("document.activeElement.select()")
    page.keys("4711", Keys.ENTER)
    page.chord("s")
    page.sees("4711", "dialog")
    page.run("document.querySelector('dialog [name=actor]').focus()")
    page.run("document.activeElement.select()")
    page.keys("keys", Keys.TAB, "by hand", Keys.ENTER)
    page.until(lambda: page.head == head + 1)


def test_tab_reaches_everything_and_focus_is_seen(page):
    page.open("#/log?tx=1995&path=stations/harbour")
    reached = set()
    for _ in range(60):
        page.keys(Keys.TAB)
        reached.add(page.run("""const e = document.activeElement;
          return e.id || e.getAttribute('aria-label') || e.innerText.slice(0, 20) || e.tagName"""))
    assert {"slider", "jump", "log-list", "tree-list", "Filter", "help"} <= reached
    page.run("document.getElementById('log-list').focus()")
    page.keys(Keys.TAB)
    assert page.run("return getComputedStyle(document.activeElement).outlineStyle") == "solid"


def test_the_help_lists_the_keys_that_are_in_force(page):
    page.open("#/query")
    page.keys("?")
    page.sees("the plan, and back", "dialog")
    page.sees("one transaction back", "dialog")
    page.shot("help")
    page.keys(Keys.ESCAPE)
    page.until(lambda: not page.run("return document.querySelector('dialog')"))


def test_changes_of_the_view_are_announced(page):
    page.open("#/query?q=stations")
    page.until(lambda: "rows" in page.run("return document.getElementById('announce').textContent"))
