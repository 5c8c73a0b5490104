// Health: is it sound, who follows it and how far behind, who holds it back, and its numbers.

import { h, button, fill, announce, settled } from "../dom.js";
import { one, lines, post, ServerError } from "../api.js";
import { store, onNews } from "../store.js";
import { sourceLine, showProblem } from "../pane.js";
import { bytes, count, time } from "../format.js";

export function healthView(element, signal) {
  const verifyBox = h("div", { role: "status" });
  const parts = {};
  const start = button("Verify", verify, { class: "main", title: "Check everything (v)" });
  const part = (name, title, ...content) => {
    parts[name] = h("div", {});
    return h("section", { class: "card", "aria-label": title }, h("h2", {}, title), content,
      parts[name]);
  };
  element.append(h("p", { class: "note of-now" }, "As it is now, not at the slider's moment."),
    h("div", { class: "cards" },
    part("verify", "Soundness", h("p", { class: "actions" }, start), verifyBox),
    part("consumers", "Consumers"), part("readers", "Readers"), part("checkpoints", "Checkpoints"),
    part("info", "Database")));

  const row = (name, value) => h("tr", {}, h("th", { scope: "row" }, name), h("td", {}, value));

  // MARK: Verify

  async function verify() {
    start.disabled = true;
    const bar = h("progress", { "aria-label": "Progress" });
    const said = h("span", { class: "note" }, "starting");
    fill(verifyBox, bar, " ", said);
    try {
      let [job] = await post("verify", {});
      while (job.state === undefined ? !("sound" in job) : job.state === "running") {
        const progress = job.progress ?? job;
        const total = progress.total ?? progress.of;
        if (total) {
          bar.max = total;
          bar.value = progress.done;
        }
        said.textContent = `${progress.phase ?? ""} ${progress.done ? count(progress.done) : ""}`
          + (total ? ` of ${count(total)}` : "");
        await new Promise((done) => setTimeout(done, 300));
        if (signal.aborted) return;
        job = await one(`jobs/${job.id ?? job.job}`, {}, { signal });
      }
      if (job.error) throw new ServerError(500, job.error);
      drawResult(job.result ?? job);
    } catch (error) {
      showProblem(verifyBox, error);
    }
    start.disabled = false;
  }

  function drawResult(result) {
    const found = result.findings ?? [];
    announce(result.sound ? "Everything is sound." : "Something is damaged.");
    fill(verifyBox, h("p", { class: result.sound ? "good" : "problem" },
      result.sound ? "✓ Everything is sound." : `✗ ${count(found.length)} findings`),
    found.length > 0 && h("ul", {}, found.slice(0, 100).map((one) => h("li", {},
      typeof one === "string" ? one : one.message ?? JSON.stringify(one)))),
    h("table", {}, h("tbody", {}, ["pages", "records", "operations", "nodes"].map(
      (name) => result[name] !== undefined && row(name, count(result[name]))),
    result.digest && row("digest", h("code", {}, result.digest.slice(0, 16))))));
  }

  // MARK: What is known without asking twice

  async function load() {
    await Promise.all([loadConsumers(), loadReaders(), loadCheckpoints(), loadInfo()]);
  }

  const table = (names, rows) => rows.length === 0 ? h("p", { class: "note" }, "none")
    : h("table", {}, h("thead", {}, h("tr", {}, names.map((name) => h("th", { scope: "col" },
      name)))),
      h("tbody", {}, rows));

  /** `option` is that of `cambium info` which lists it; else the command has its name. */
  async function fillPart(name, draw, option) {
    const source = sourceLine();
    source.show(name, {}, [], option, option ? "info" : name);
    try {
      fill(parts[name], draw(await lines(name, {}, { max: 500, signal })), source.element);
    } catch (error) {
      showProblem(parts[name], error);
    }
  }

  const loadConsumers = () => fillPart("consumers", (all) => table(
    ["Name", "Position", "Behind"], all.map((consumer) => {
      const position = consumer.position ?? consumer.sequence ?? 0;
      const behind = consumer.behind ?? Math.max(0, store.head - position);
      return h("tr", {}, h("th", { scope: "row" }, consumer.name),
        h("td", { class: "number" }, count(position)), h("td", { class: "number" }, count(behind),
          " ",
          h("meter", { min: 0, max: Math.max(1, store.head), value: behind,
            "aria-label": `${consumer.name} is behind by`, high: 1000, optimum: 0 })));
    })));

  const number = (text) => h("td", { class: "number" }, text);

  const loadReaders = () => fillPart("readers", (all) => table(
    ["Process", "Part", "Moment", "Behind", "Held for"], all.map((reader) => h("tr", {},
      h("th", { scope: "row" }, String(reader.process)), h("td", {}, reader.environment),
      number(reader.sequence == null ? "" : count(reader.sequence)), number(count(reader.behind)),
      number(reader.age == null ? "" : `${reader.age.toFixed(1)} s`)))), { readers: true });

  const loadCheckpoints = () => fillPart("checkpoints", (all) => table(
    ["Transaction", "Behind", "Bytes", "Made"], all.map((one) => h("tr", {},
      h("th", { scope: "row" }, count(one.sequence)), number(count(one.behind)),
      number(bytes(one.bytes)), h("td", {}, one.made == null ? "" : time(one.made))))),
  { checkpoints: true });

  async function loadInfo() {
    const source = sourceLine();
    source.show("info", {});
    try {
      const info = await one("info", {}, { signal });
      fill(parts.info, h("table", {}, h("tbody", {},
        row("transactions", count(info.head)), row("horizon", count(info.horizon ?? 0)),
        row("nodes", count(info.nodes)), row("versions", count(info.versions)),
        row("names of properties", count(info.names)), row("created", time(info.created)),
        row("recorded", `${time(info.first)} to ${time(info.last)}`),
        row("log", bytes(info.logBytes)), row("state", `${bytes(info.stateBytes)}, generation `
          + info.generation), row("origin", h("code", {}, info.origin)))),
      table(["Table", "Entries", "Bytes", "Depth"], (info.tables ?? []).map((one) => h("tr", {},
        h("th", { scope: "row" }, `${one.environment} ${one.name}`),
        h("td", { class: "number" }, count(one.entries)), h("td", { class: "number" },
          bytes(one.bytes)),
        h("td", { class: "number" }, String(one.depth))))), source.element);
    } catch (error) {
      showProblem(parts.info, error);
    }
  }

  const later = settled(1000, load);
  onNews((transaction) => transaction && later(), signal);
  let isLoaded = false;
  return {
    keys: [["v", "verify", verify]],
    update() {
      if (!isLoaded) load();
      isLoaded = true;
    },
  };
}
