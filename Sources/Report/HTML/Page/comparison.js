// The page of a comparison: what changed at the top, both timelines on one scale, what accounts for
// the difference, and a differential flame graph.
import { changeList, changeOf, changedFacts, comparedFindings, functionList, phaseList } from "./changes.js";
import { decodeComparison, sides, statesWithin } from "./compared.js";
import { DifferentialFlames } from "./differential.js";
import { make } from "./dom.js";
import { change, time } from "./format.js";
import { states } from "./launch.js";
import { legend } from "./legend.js";
import { ComparedView, SideState } from "./sides.js";
import { start } from "./start.js";
import { Timeline } from "./timeline.js";

class ComparisonPage {
  constructor(comparison) {
    this.comparison = comparison;
    const extent = Math.max(1, ...comparison.wall);
    this.view = new ComparedView(comparison, extent, location.hash);
    this.states = comparison.launches.map((launch) => new SideState(this.view, launch));
    this.timelines = comparison.launches.map((launch, side) => new Timeline(launch,
      this.states[side], { extent, title: `timeline ${sides[side]}` }));
    this.selection = make("p.selection", { "aria-live": "polite" });
    this.choice = this.buildChoice();
    this.changes = make("div.changes");
    this.search = make("input", { type: "search", placeholder: "Search functions (/)",
      "aria-label": "search functions", maxlength: 200, value: this.view.values.search,
      oninput: () => this.view.change({ search: this.search.value }),
      onkeydown: (event) => this.searchKey(event) });
    this.found = make("span.dim", { "aria-live": "polite" });
    this.graph = make("div", { id: "graph" });
    this.build();
    this.view.listen((names) => this.changed(names));
    document.addEventListener("keydown", (event) => this.key(event));
    this.fill();
  }

  // MARK: Elements

  build() {
    const { comparison } = this;
    const section = (title, ...content) => make("section", {}, make("h2", {}, title), ...content);
    const page = document.getElementById("page");
    page.className = "comparison";
    page.replaceChildren(this.header(),
      section("Phases", phaseList(comparison, (phase) => this.view.select({ phase: phase.index })),
        make("p.caption", {}, barSwatch("before"), "before  ", barSwatch("after"), "after  ",
          barSwatch("blocked"), "the main thread was blocked")),
      section("Timelines, from the start of each launch", ...this.timelines.flatMap((timeline, side) => [
        make("h3", {}, `${sides[side]}: ${comparison.shown[side]}`), timeline.element]),
      legend("drag: select · wheel or Ctrl+wheel: zoom both · keys: ← → + − 0 z [ ] Esc"),
      this.selection),
      section("What accounts for the difference", this.choice, this.changes),
      section("Differential flame graph", colourKey(comparison.leastChange), this.graph),
      comparedFindings(comparison), ...changedFacts(comparison), this.notes());
  }

  header() {
    const { comparison } = this;
    return make("header", {}, make("h1", {}, comparison.title),
      ...comparison.summaries.map((summary, side) => make("p.figures", {}, `${sides[side]}: ${summary}`)));
  }

  notes() {
    return make("section", {}, make("h2", {}, "Notes"),
      ...this.comparison.notes.map((note) => make("p.note", {}, note)));
  }

  buildChoice() {
    const button = (phase, name, wall) => make("button", { type: "button",
      "data-phase": phase ?? "all", onclick: () => this.view.select({ phase }) },
    `${name} `, changeOf(wall[1] - wall[0]));
    const { comparison } = this;
    return make("div.choice", { role: "group", "aria-label": "phase" },
      button(null, "All phases", comparison.wall),
      ...comparison.phases.map((phase) => button(phase.index, phase.name, phase.wall)));
  }

  // MARK: Changing

  changed(names) {
    if (names.includes("phase")) this.fill();
    else if (names.includes("search")) this.find();
    if (!names.includes("zoom") && !names.includes("search")) this.describe();
  }

  /** The phases that are looked at. */
  get phases() {
    const { phase } = this.view.values;
    return phase === null ? this.comparison.phases : [this.comparison.phases[phase]];
  }

  fill() {
    const { comparison, view, phases } = this;
    for (const button of this.choice.children) {
      const isChosen = button.dataset.phase === String(view.values.phase ?? "all");
      button.setAttribute("aria-pressed", String(isChosen));
    }
    if (this.filled !== view.values.phase) {
      this.filled = view.values.phase;
      const lists = [
        ...phases.map((phase) => changeList(comparison, phase, (...place) => this.show(...place))),
        ...phases.map((phase) => functionList(comparison, phase)),
      ].filter((list) => list !== null);
      this.changes.replaceChildren(...lists.length > 0 ? lists : [make("p.empty", {},
        `nothing here changed by ${time(comparison.leastChange)} or more`)]);
      this.flames = new DifferentialFlames(comparison, phases, [this.search, this.found]);
      this.graph.replaceChildren(this.flames.chart.element);
    }
    this.find();
    this.describe();
  }

  /** Leads from a list to the box in the flame graph. */
  show(phase, node) {
    this.flames.reveal(phase, node);
    this.graph.scrollIntoView({ block: "nearest" });
    this.flames.chart.canvas.focus({ preventScroll: true });
  }

  find() {
    const wanted = this.view.values.search.toLowerCase();
    this.flames.find(wanted === "" ? null : (box) => box.name.toLowerCase().includes(wanted));
    const { found } = this.flames;
    const [before, after] = [0, 1].map((side) =>
      found.reduce((sum, box) => sum + box.wall[side], 0));
    this.found.textContent = wanted === "" ? ""
      : found.length === 0 ? "nothing with this name here"
        : `${found.length} found: ${time(before)} before, ${time(after)} after, `
          + `${change(after - before)} (Enter: next)`;
  }

  // MARK: Keys

  key(event) {
    if (event.target.tagName === "INPUT" || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "/") {
      event.preventDefault();
      this.search.focus();
    } else if (event.key === "Escape"
      && !this.timelines.some(({ element }) => element.contains(event.target))) {
      this.view.select();
    }
  }

  searchKey(event) {
    if (event.key === "Enter") this.flames.next(event.shiftKey ? -1 : 1);
    if (event.key === "Escape") { this.search.value = ""; this.view.change({ search: "" }); }
  }

  // MARK: The selection, in words

  describe() {
    const { phase, range } = this.view.values;
    const clear = make("button", { type: "button", onclick: () => this.view.select() },
      "Select all (Esc)");
    if (range !== null) {
      this.selection.replaceChildren(make("strong", {}, `${time(range[0], 3)} to ${time(range[1], 3)}: `),
        this.states.map((_, side) => this.statesOf(side, range)).join("; "), " ", clear);
    } else if (phase !== null) {
      this.selection.replaceChildren(...this.phaseWords(this.comparison.phases[phase]), " ", clear);
    } else {
      this.selection.replaceChildren("Select a phase, or drag over a stretch of time, to compare it.");
    }
  }

  phaseWords(phase) {
    const words = (name, [before, after]) =>
      `${name} ${time(before)} before, ${time(after)} after, ${change(after - before)}`;
    return [make("strong", {}, `Phase “${phase.name}” `),
      [words("wall", phase.wall), words("CPU", phase.cpu), words("main blocked", phase.blocked)].join("; ")];
  }

  /** What the chosen thread did, or the main one. */
  statesOf(side, range) {
    const { threads } = this.comparison.launches[side];
    const chosen = this.states[side].own.thread;
    const thread = chosen === null ? threads.find(({ isMain }) => isMain) : threads[chosen];
    if (thread === undefined) return `${sides[side]}: no main thread was recorded`;
    const times = statesWithin(thread, range);
    const parts = states.map((name, state) => times[state] > 0 ? `${name} ${time(times[state])}` : null)
      .filter((part) => part !== null);
    return `${sides[side]}, ${thread.label}: ${parts.length === 0 ? "nothing" : parts.join(", ")}`;
  }

  paint() { for (const timeline of this.timelines) timeline.paint(); }
}

function barSwatch(name) { return make(`i.swatch.of-${name}`, { "aria-hidden": "true" }); }

function colourKey(least) {
  const entry = (kind, text) => make("span", {}, make(`i.swatch.${kind}`, { "aria-hidden": "true" }), text);
  return make("p.legend", {}, entry("longer", "took longer"), entry("shorter", "took less"),
    entry("unchanged", `no change of ${time(least)} or more`), entry("vanished", "hatched: gone"));
}

start("compare", (data) => new ComparisonPage(decodeComparison(data)));
