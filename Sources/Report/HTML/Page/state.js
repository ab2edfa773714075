// What is looked at. The address keeps it, so that a view can be handed on.

const initial = {
  phase: null,     // position in the launch's list
  interval: null,  // the same
  initializer: null,
  range: null,     // [from, to] in nanoseconds
  thread: null,    // position in the launch's list
  zoom: null,      // the part of the launch that the timeline shows; null: all
  weight: "cpu",
  tab: "heaviest",
  inverted: false,
  ownOnly: false,
  focus: null,     // a function's position
  search: "",
  order: "heavy",  // of the flame graph: heavy or time
  hidden: [],      // lanes
  pinned: [],
};

/** The view, and who wants to know when it changes. */
export class ViewState {
  constructor(launch, text) {
    this.launch = launch;
    this.listeners = [];
    this.keeping = null;
    this.values = { ...initial, ...read(text, launch) };
  }

  listen(listener) { this.listeners.push(listener); }

  change(values) {
    this.values = { ...this.values, ...values };
    this.keep();
    for (const listener of this.listeners) listener(Object.keys(values));
  }

  /** In the address, a moment later: browsers refuse who changes it at every turn of a wheel. */
  keep() {
    this.keeping ??= setTimeout(() => {
      this.keeping = null;
      const text = write(this.values);
      // A page from the disk may always change what stands behind its `#`.
      history.replaceState(null, "", text === "" ? "#" : `#${text}`);
    }, 250);
  }

  /** What of the launch is selected, as `totals.js` asks. */
  get selection() {
    const { phase, interval, initializer, range, thread } = this.values;
    const { intervals, initializers } = this.launch;
    const chosen = interval !== null ? intervals[interval]
      : initializer !== null ? initializers[initializer] : null;
    const threads = initializer !== null ? [initializers[initializer].thread]
      : thread !== null ? [thread] : null;
    return { phase, range: chosen ? [chosen.start, chosen.end] : range, threads };
  }

  /** From when to when that is; null: all of the launch. */
  get span() {
    const { phase, range } = this.selection;
    if (range !== null) return range;
    if (phase === null) return null;
    return [this.launch.phases[phase].start, this.launch.phases[phase].end];
  }

  /** One thing is selected at a time, and perhaps a thread. */
  select(values) {
    this.change({ phase: null, interval: null, initializer: null, range: null, ...values });
  }
}

const lists = { phase: "phases", interval: "intervals", initializer: "initializers",
  thread: "threads" };
const choices = { weight: ["cpu", "wall", "blocked", "runnable"], order: ["heavy", "time"] };

/** Only what differs from the beginning. */
function write(values) {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(values)) {
    if (JSON.stringify(value) === JSON.stringify(initial[name])) continue;
    const isRange = name === "range" || name === "zoom";
    parameters.set(name, isRange ? value.map(Math.round).join("-") : String(value));
  }
  return parameters.toString();
}

/** Anything that makes no sense in this launch is left out: addresses are written by anybody. */
function read(text, launch) {
  const values = {};
  for (const [name, value] of new URLSearchParams(text.replace(/^#/, ""))) {
    const found = readValue(name, value, launch);
    if (found !== undefined) values[name] = found;
  }
  return values;
}

function readValue(name, value, launch) {
  if (name in lists) return position(value, launch[lists[name]].length);
  if (name === "focus") return position(value, launch.functions.name.length);
  if (name in choices) return choices[name].includes(value) ? value : undefined;
  switch (name) {
    case "range":
    case "zoom": return readRange(value, launch);
    case "inverted":
    case "ownOnly": return value === "true";
    case "search": return value.slice(0, 200);
    case "tab": return /^[a-z]+$/.test(value) ? value : undefined;
    case "hidden":
    case "pinned": return value.split(",").filter((lane) => /^[a-z]+[0-9]*$/.test(lane));
    default: return undefined;
  }
}

function position(text, count) {
  const number = /^[0-9]+$/.test(text) ? Number(text) : NaN;
  return number < count ? number : undefined;
}

function readRange(text, launch) {
  const parts = /^([0-9]{1,15})-([0-9]{1,15})$/.exec(text);
  if (parts === null) return undefined;
  const [from, to] = [Number(parts[1]), Math.min(Number(parts[2]), launch.wall)];
  return from < to ? [from, to] : undefined;
}
