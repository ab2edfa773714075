// What of a recording is looked at.
import { Values, position, readRange, readValues } from "./values.js";

const initial = {
  phase: null,     // position in the launch's list
  interval: null,  // the same
  initializer: null,
  imported: null,
  range: null,     // [from, to] in nanoseconds
  thread: null,    // position in the launch's list
  zoom: null,      // the part of the launch that the timeline shows; null: all
  weight: "cpu",
  tab: "answer",
  inverted: false,
  ownOnly: false,
  focus: null,     // a function's position
  search: "",
  order: "heavy",  // of the flame graph: heavy or time
  hidden: [],      // lanes
  pinned: [],
  opened: [],      // processes of which lanes are shown, where there are many
};

/** The view of a launch. */
export class ViewState extends Values {
  constructor(launch, text) {
    super(initial, readValues(text, (name, value) => readValue(name, value, launch)));
    this.launch = launch;
  }

  /** What of the launch is selected, as `totals.js` asks. */
  get selection() {
    const { phase, interval, initializer, imported, range, thread } = this.values;
    const { intervals, initializers, imports } = this.launch;
    // What a thread did by itself is of that thread.
    const run = initializer !== null ? initializers[initializer]
      : imported !== null ? imports[imported] : null;
    const chosen = interval !== null ? intervals[interval] : run;
    const threads = run !== null ? [run.thread] : thread !== null ? [thread] : null;
    return { phase, range: chosen ? [chosen.start, chosen.end] : range, threads };
  }

  /** From when to when that is; null: all of the launch. */
  get span() {
    const { phase, range } = this.selection;
    if (range !== null) return range;
    if (phase === null) return null;
    return [this.launch.phases[phase].start, this.launch.phases[phase].end];
  }

  /** Whether the selection is a phase, by its position. */
  isPhase(index) { return this.values.phase === index; }

  /** One thing is selected at a time, and perhaps a thread. */
  select(values) {
    this.change({ phase: null, interval: null, initializer: null, imported: null, range: null,
      ...values });
  }
}

const lists = { phase: "phases", interval: "intervals", initializer: "initializers",
  imported: "imports", thread: "threads" };
const choices = { weight: ["cpu", "wall", "blocked", "runnable"], order: ["heavy", "time"] };

function readValue(name, value, launch) {
  if (name in lists) return position(value, launch[lists[name]].length);
  if (name === "focus") return position(value, launch.functions.name.length);
  if (name in choices) return choices[name].includes(value) ? value : undefined;
  switch (name) {
    case "range":
    case "zoom": return readRange(value, launch.wall);
    case "inverted":
    case "ownOnly": return value === "true";
    case "search": return value.slice(0, 200);
    case "tab": return /^[a-z]+$/.test(value) ? value : undefined;
    case "hidden":
    case "opened":
    case "pinned": return value.split(",").filter((lane) => /^[a-z]+[0-9]*$/.test(lane));
    default: return undefined;
  }
}
