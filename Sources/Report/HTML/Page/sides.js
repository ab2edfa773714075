// What of a comparison is looked at: one phase or stretch of time, in both timelines.
import { Values, position, readRange, readValues } from "./values.js";

const compared = { phase: null, range: null, zoom: null, search: "" };

/** The view of a comparison; `phase` is a position in its list. */
export class ComparedView extends Values {
  constructor(comparison, extent, text) {
    super(compared, readValues(text, (name, value) => {
      if (name === "phase") return position(value, comparison.phases.length);
      if (name === "range" || name === "zoom") return readRange(value, extent);
      return name === "search" ? value.slice(0, 200) : undefined;
    }));
    this.comparison = comparison;
  }

  /** A phase or a stretch of time is selected, or nothing. */
  select(values = {}) { this.change({ phase: null, range: null, ...values }); }

  get phaseName() {
    return this.values.phase === null ? null : this.comparison.phases[this.values.phase].name;
  }
}

/** What the timeline of one launch asks for. Its threads and lanes are its own; the rest is shared. */
export class SideState {
  constructor(view, launch) {
    this.view = view;
    this.launch = launch;
    this.own = { thread: null, hidden: [], pinned: [], opened: [] };
    this.listeners = [];
    view.listen((names) => this.tell(names));
  }

  listen(listener) { this.listeners.push(listener); }

  tell(names) { for (const listener of this.listeners) listener(names); }

  get values() {
    const phase = this.launch.phases.findIndex((_, index) => this.isPhase(index));
    return { zoom: this.view.values.zoom, phase: phase < 0 ? null : phase, ...this.own };
  }

  isPhase(index) { return this.launch.phases[index].name === this.view.phaseName; }

  /** From when to when; null: nothing is selected, or no single stretch of time. */
  get span() {
    const { range } = this.view.values;
    if (range !== null) return range;
    const chosen = this.launch.phases.filter((_, index) => this.isPhase(index));
    return chosen.length === 1 ? [chosen[0].start, chosen[0].end] : null;
  }

  change(values) {
    const { zoom, ...own } = values;
    Object.assign(this.own, own);
    if (zoom !== undefined) this.view.change({ zoom });
    if (Object.keys(own).length > 0) { this.tell(Object.keys(own)); this.view.change({}); }
  }

  select({ phase = null, range = null, interval, initializer, imported, thread }) {
    const chosen = interval !== undefined ? this.launch.intervals[interval]
      : initializer !== undefined ? this.launch.initializers[initializer]
        : imported !== undefined ? this.launch.imports[imported] : null;
    if (thread !== undefined) this.own.thread = thread;
    const { phases } = this.view.comparison;
    const place = phase === null ? -1
      : phases.findIndex(({ name }) => name === this.launch.phases[phase].name);
    this.view.select({ phase: place < 0 ? null : place,
      range: chosen === null ? range : [chosen.start, chosen.end] });
    this.tell(["thread"]);
  }
}
