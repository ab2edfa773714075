// The page: what is known of the launch at the top, the timeline, and details of what is selected.
import { answerView } from "./answer.js";
import { make } from "./dom.js";
import { eventsView, findingsView, importsView, initializersView, intervalsView, librariesView, phasesView, threadsView } from "./facts.js";
import { flameView } from "./flame.js";
import { time } from "./format.js";
import { Forest } from "./forest.js";
import { heaviestView } from "./heaviest.js";
import { decode, states, weights } from "./launch.js";
import { gestures, legend } from "./legend.js";
import { start } from "./start.js";
import { ViewState } from "./state.js";
import { Timeline } from "./timeline.js";
import { ownTimes, weighed } from "./totals.js";
import { treeView } from "./tree.js";

const tabs = [
  { id: "answer", title: "Summary", view: answerView },
  { id: "heaviest", title: "Heaviest stack", view: heaviestView, hasStacks: true },
  { id: "tree", title: "Call tree", view: treeView, hasStacks: true },
  { id: "flame", title: "Flame graph", view: flameView, hasStacks: true },
  { id: "findings", title: "Findings", view: findingsView },
  { id: "phases", title: "Phases", view: phasesView },
  { id: "events", title: "Events", view: eventsView },
  { id: "intervals", title: "Intervals", view: intervalsView },
  { id: "initializers", title: "Initialisers", view: initializersView },
  { id: "imports", title: "Imports", view: importsView },
  { id: "libraries", title: "Libraries", view: librariesView },
  { id: "threads", title: "Threads", view: threadsView },
];

class Page {
  constructor(launch) {
    this.launch = launch;
    this.filled = -Infinity;
    this.isAsked = false;
    this.state = new ViewState(launch, location.hash);
    this.timeline = new Timeline(launch, this.state);
    this.selection = make("div.selection", { "aria-live": "polite" });
    this.tools = this.buildTools();
    this.tabs = make("div.tabs", { role: "tablist", "aria-label": "details",
      onkeydown: (event) => this.tabKey(event) }, ...tabs.map((tab) => this.tabButton(tab)));
    this.panel = make("div.panel", { role: "tabpanel", id: "panel", tabindex: -1 });
    document.getElementById("page").replaceChildren(this.header(), this.timeline.element,
      legend(gestures), this.selection, this.tabs, this.tools.element, this.panel);
    this.state.listen((names) => this.changed(names));
    document.addEventListener("keydown", (event) => this.key(event));
    this.fill();
  }

  header() {
    const { launch } = this;
    const [name, ...figures] = launch.figures;
    return make("header", {}, make("h1", {}, name),
      make("p.figures", {}, figures.join(" · ")),
      launch.command === "" ? null : make("p.command", {}, make("code", {}, launch.command)),
      launch.essentials.length === 0 ? null
        : make("p.note", {}, launch.essentials.join(" · ")),
      this.notes());
  }

  /** What else is known of how it was recorded: of no matter for most readers. */
  notes() {
    const { notes } = this.launch;
    if (notes.length === 0) return null;
    const title = notes.length === 1 ? "1 note on the recording"
      : `${notes.length} notes on the recording`;
    return make("details.notes", {}, make("summary", {}, title),
      ...notes.map((note) => make("p", {}, note)));
  }

  paint() { this.timeline.paint(); }

  // MARK: Tools

  buildTools() {
    const { state } = this;
    const weight = make("fieldset.choice", { "aria-label": "weight" },
      ...Object.entries(weights).map(([name, { title }]) => make("label", {},
        make("input", { type: "radio", name: "weight", value: name,
          onchange: () => state.change({ weight: name }) }), title)));
    const box = (name, text, title) => make("label", { title },
      make("input", { type: "checkbox", name,
        onchange: (event) => state.change({ [name]: event.target.checked }) }), text);
    const search = make("input", { type: "search", name: "search", placeholder: "Search functions (/)",
      "aria-label": "search functions", maxlength: 200,
      oninput: () => state.change({ search: search.value }) });
    const focus = make("button", { type: "button", hidden: true,
      onclick: () => state.change({ focus: null }) });
    const element = make("form.tools", { onsubmit: (event) => event.preventDefault() }, weight,
      box("inverted", "Invert", "functions by their own time, their callers below"),
      box("ownOnly", "Hide system libraries", "their time goes to the own code that called them"),
      search, focus);
    return { element, search, focus };
  }

  showTools(tab) {
    const { values } = this.state;
    const { element, search, focus } = this.tools;
    element.hidden = tab.hasStacks !== true;
    for (const input of element.querySelectorAll("input[type=radio]")) {
      input.checked = input.value === values.weight;
    }
    for (const input of element.querySelectorAll("input[type=checkbox]")) {
      input.checked = values[input.name];
    }
    element.querySelector("[name=inverted]").disabled = tab.id === "heaviest";
    if (document.activeElement !== search) search.value = values.search;
    search.hidden = tab.id !== "tree";
    focus.hidden = values.focus === null;
    if (values.focus !== null) {
      focus.textContent = `Focus: ${this.launch.functions.name[values.focus]} ×`;
    }
  }

  // MARK: Tabs

  get tab() { return tabs.find(({ id }) => id === this.state.values.tab) ?? tabs[0]; }

  tabButton(tab) {
    return make("button", { type: "button", role: "tab", id: `tab-${tab.id}`,
      "aria-controls": "panel", onclick: () => this.state.change({ tab: tab.id }) },
    tab.title, this.count(tab));
  }

  count({ id }) {
    const list = this.launch[id];
    const isCounted = ["findings", "intervals", "initializers", "imports", "libraries", "threads"].includes(id);
    return isCounted ? make("span.count", {}, String(list.length)) : null;
  }

  tabKey(event) {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (step === undefined) return;
    const next = tabs[(tabs.indexOf(this.tab) + step + tabs.length) % tabs.length];
    this.state.change({ tab: next.id });
    document.getElementById(`tab-${next.id}`).focus();
    event.preventDefault();
  }

  key(event) {
    if (event.target.tagName === "INPUT" || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "/") {
      event.preventDefault();
      this.state.change({ tab: "tree" });
      // Details may come with the next picture only, and what is hidden takes no keys.
      this.showTools(this.tab);
      this.tools.search.focus();
    } else if (event.key === "Escape" && !this.timeline.element.contains(event.target)) {
      this.state.select({ thread: null });
    }
  }

  // MARK: Details

  changed(names) {
    const isOfDetails = names.some((name) => !["zoom", "hidden", "pinned", "opened"].includes(name));
    if (!isOfDetails || this.isAsked) return;
    // At once, but while something is dragged no oftener than pictures are shown.
    if (performance.now() - this.filled > 50) { this.fill(); return; }
    this.isAsked = true;
    requestAnimationFrame(() => { this.isAsked = false; this.fill(); });
  }

  fill() {
    const { launch, state, tab } = this;
    const { selection, values } = state;
    const { own, whole, threads } = ownTimes(launch, selection, values.weight);
    let forest = Forest.of(launch, own);
    if (values.focus !== null) forest = forest.focused(values.focus);
    if (values.ownOnly) forest = forest.withoutSystem();
    const { title } = weights[values.weight];
    const context = { launch, state, selection, span: state.span, forest, threadTimes: threads,
      whole: weighed(whole, values.weight), nothing: `no ${title.toLowerCase()} time here` };
    for (const button of this.tabs.children) {
      const isChosen = button.id === `tab-${tab.id}`;
      button.setAttribute("aria-selected", String(isChosen));
      button.tabIndex = isChosen ? 0 : -1;
    }
    this.panel.setAttribute("aria-labelledby", `tab-${tab.id}`);
    this.showTools(tab);
    this.selection.replaceChildren(...this.describe(whole));
    const hadFocus = this.panel.contains(document.activeElement);
    this.panel.replaceChildren(tab.view(context));
    // Who goes by keys stays where they were.
    if (hadFocus) (this.panel.querySelector("[tabindex='0']") ?? this.panel).focus();
    this.filled = performance.now();
  }

  /** What is selected, and what threads did in it. */
  describe(whole) {
    const { launch, state } = this;
    const { phase, interval, initializer, imported, range, thread } = state.values;
    const { selection, span } = state;
    const runs = launch.initializers;
    const names = [
      phase === null ? null : `Phase “${launch.phases[phase].name}”`,
      interval === null ? null : `Interval “${launch.intervals[interval].name}”`,
      initializer === null ? null
        : `Initialiser “${launch.functions.name[launch.frames.function[runs[initializer].frame]]}”`,
      imported === null ? null : `Import of “${launch.imports[imported].name}”`,
      range === null ? null : `${time(range[0], 3)} to ${time(range[1], 3)}`,
      thread === null ? null : launch.threads[thread].label,
    ].filter((name) => name !== null);
    const wall = span === null ? launch.wall : span[1] - span[0];
    const who = selection.threads === null ? "all threads together" : "the thread";
    const parts = states.map((name, index) => `${name} ${time(whole[index])}`);
    return [make("strong", {}, names.length === 0 ? "The whole launch" : names.join(", ")),
      ` ${time(wall)} · ${who}: ${parts.join(", ")} `,
      names.length === 0 ? "" : make("button", { type: "button",
        onclick: () => state.select({ thread: null }) }, "Select all (Esc)")];
  }
}

start("report", (data) => new Page(decode(data)));
