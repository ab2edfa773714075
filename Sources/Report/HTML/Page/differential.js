// The differential flame graph: red took longer, blue less, grey is no known change.
import { BoxChart, mostLevels } from "./boxes.js";
import { pairAt, statusOf } from "./compared.js";
import { colour } from "./dom.js";
import { change, time } from "./format.js";

/** Of the phases that are shown; `tools` are elements that stand above. */
export class DifferentialFlames {
  constructor(comparison, phases, tools) {
    this.comparison = comparison;
    /** A function that boxes are asked by; null: nothing is searched for. */
    this.search = null;
    this.tools = tools;
    this.layout = differentialLayout(comparison, phases);
    this.nothing = "no time was recorded here";
    this.label = "differential flame graph; arrows choose a box, Enter zooms, Escape shows all; "
      + "the list of what accounts for the difference tells the same in words";
    this.chart = new BoxChart(this.layout, this);
  }

  // MARK: What boxes look like

  /** What came or went is marked once, at its outermost box. */
  name(box) {
    const status = statusOf(box.seen);
    const isMarked = status !== "" && box.caller?.seen !== box.seen;
    return isMarked ? `(${status}) ${box.short}` : box.short;
  }

  /** Also for the tip. */
  lines(box) {
    const status = statusOf(box.seen);
    const itself = box.own?.some((value) => value !== 0)
      ? `itself ${figures(box.own)}` : "itself –";
    const parts = ["cpu", "blocked"].map((cost) => {
      const [first, second] = box[cost];
      return `${cost === "cpu" ? "CPU" : cost} ${change(second - first)}`;
    });
    return [status === "" ? box.name : `${box.name} (${status})`, box.module,
      figures(box.wall), box.own === null ? null : itself,
      `of the difference: ${parts.join(", ")}`].filter((line) => line !== null && line !== "");
  }

  paint() { return new DifferencePaint(this.comparison.leastChange, this.search); }

  // MARK: Finding

  find(search) {
    this.search = search;
    this.chart.draw();
  }

  /** Those that are searched for and not called by another such. */
  get found() {
    if (this.search === null) return [];
    return this.layout.boxes.filter((box) => this.search(box) && !isBelowFound(box, this.search));
  }

  next(step) {
    const { found, chart } = this;
    if (found.length === 0) return;
    const now = found.indexOf(chart.chosen);
    chart.zoom(null);
    chart.choose(found[(now + step + found.length) % found.length]);
  }

  /** Shows a node of a phase, or if it is too narrow to be drawn, what called it. */
  reveal(phase, node) {
    const nodes = this.comparison.phases[phase].nodes;
    for (let current = node; current >= 0; current = nodes.caller[current]) {
      const box = this.layout.boxes.find((box) => box.phase === phase && box.node === current);
      if (box !== undefined) { this.chart.zoom(box); return; }
    }
  }
}

function figures([before, after]) {
  return `${time(before)} before, ${time(after)} after, ${change(after - before)}`;
}

function isBelowFound(box, search) {
  for (let caller = box.caller; caller !== null; caller = caller.caller) {
    if (search(caller)) return true;
  }
  return false;
}

/** Phases side by side in their order, and in each the largest change first. */
function differentialLayout(comparison, phases) {
  const widths = phases.map((phase) => rootsOf(phase.nodes).reduce(
    (sum, root) => sum + phase.nodes.width[root], 0));
  const whole = widths.reduce((sum, width) => sum + width, 0);
  // What is narrower than this on the widest screen is not looked for.
  const least = whole / 20_000;
  const boxes = [];
  let start = 0;
  phases.forEach((phase, index) => {
    const width = widths[index];
    if (width > 0 && width >= least) addPhase(comparison, phase, start, width, least, boxes);
    start += width;
  });
  return { boxes, whole, caption: captionOf(comparison, phases) };
}

function captionOf(comparison, phases) {
  const [before, after] = [0, 1].map((side) =>
    phases.reduce((sum, phase) => sum + phase.wall[side], 0));
  return `wall time of the main thread: ${figures([before, after])}; boxes are as wide as the `
    + "longer time";
}

function rootsOf(nodes) {
  const roots = [];
  // Roots stand before all others.
  for (let i = 0; i < nodes.count && nodes.caller[i] < 0; i += 1) roots.push(i);
  return roots;
}

function addPhase(comparison, phase, start, width, least, boxes) {
  const { nodes } = phase;
  const top = { from: start, to: start + width, row: 0, phase: phase.index, node: -1, caller: null,
    name: phase.name, short: phase.name, module: "phase", seen: phase.seen, sure: phase.sure,
    wall: phase.wall, own: null, cpu: phase.main.cpu, blocked: phase.main.blocked };
  boxes.push(top);
  const known = new Array(nodes.count);
  // Where the next callee of each box begins. Callees come after their callers, and in order.
  const next = new Map([[top, start]]);
  for (let node = 0; node < nodes.count; node += 1) {
    const caller = nodes.caller[node] < 0 ? top : known[nodes.caller[node]];
    if (caller === undefined) continue;
    const from = next.get(caller);
    next.set(caller, from + nodes.width[node]);
    if (nodes.width[node] < least || caller.row + 1 >= mostLevels) continue;
    const box = boxOf(comparison, phase, node, caller, from);
    known[node] = box;
    next.set(box, from);
    boxes.push(box);
  }
}

function boxOf({ functions }, { nodes, index }, node, caller, from) {
  const callee = nodes.function[node];
  return { from, to: from + nodes.width[node], row: caller.row + 1, phase: index, node, caller,
    name: functions.name[callee], short: functions.short[callee], module: functions.module[callee],
    seen: nodes.seen[node], sure: nodes.sure[node] === 1,
    wall: pairAt(nodes.total.wall, node), own: pairAt(nodes.own.wall, node),
    cpu: pairAt(nodes.total.cpu, node), blocked: pairAt(nodes.total.blocked, node) };
}

/** The deeper, the larger the part of the longer time that changed. What is gone is hatched. */
class DifferencePaint {
  constructor(least, search) {
    this.least = least;
    this.search = search;
    this.dark = colour("scheme") === "dark";
    this.text = colour("text");
    this.back = colour("back");
  }

  fill(context, box, left, top, width, height) {
    context.fillStyle = this.of(box);
    context.fillRect(left, top, width, height);
    if (statusOf(box.seen) === "gone") this.hatch(context, left, top, width, height);
    const isOut = this.search !== null && !this.search(box);
    if (isOut) {
      context.globalAlpha = 0.65;
      context.fillStyle = this.back;
      context.fillRect(left, top, width, height);
      context.globalAlpha = 1;
    }
  }

  of({ wall: [before, after], sure }) {
    const size = Math.abs(after - before);
    if (size < this.least || !sure) return this.dark ? "#4a4a50" : "#d6d6da";
    const share = Math.min(1, size / Math.max(Math.abs(before), Math.abs(after), 1));
    const hue = after > before ? 5 : 215;
    return this.dark ? `hsl(${hue},55%,${Math.round(25 + 20 * share)}%)`
      : `hsl(${hue},85%,${Math.round(90 - 22 * share)}%)`;
  }

  hatch(context, left, top, width, height) {
    context.save();
    context.beginPath();
    context.rect(left, top, width, height);
    context.clip();
    context.strokeStyle = this.back;
    context.globalAlpha = 0.3;
    context.lineWidth = 1;
    context.beginPath();
    for (let x = left - (left + height) % 6 - height; x < left + width; x += 6) {
      context.moveTo(x, top + height);
      context.lineTo(x + height, top);
    }
    context.stroke();
    context.restore();
  }
}
