// Flame graphs, roots at the top: as wide as their time, heaviest first or in the order of time.
import { colour, make, sized, tell } from "./dom.js";
import { percent, time } from "./format.js";
import { bottomUp, topDown } from "./forest.js";
import { forEachStretch } from "./totals.js";
import { weights } from "./launch.js";

const levelHeight = 18, mostLevels = 400;

export function flameView(context) {
  const isTime = context.state.values.order === "time";
  const layout = isTime ? timeOrder(context) : heavyOrder(context);
  return new Flame(context, layout).element;
}

/** Boxes are `{from, to, row, function, label}`; from and to are parts of the layout's whole. */
class Flame {
  constructor(context, layout) {
    this.context = context;
    this.layout = layout;
    this.view = [0, layout.whole];
    this.chosen = null;
    this.canvas = make("canvas.flame", { tabindex: 0, role: "img",
      "aria-label": `flame graph, ${layout.caption}; the call tree tells the same in words`,
      onmousemove: (event) => this.hover(event), onmouseleave: (event) => tell(event, null),
      onclick: (event) => this.zoom(this.at(event)), onkeydown: (event) => this.key(event) });
    this.status = make("p.caption", { "aria-live": "polite" }, layout.caption);
    const order = make("div.choice", { role: "group", "aria-label": "order" },
      ...["heavy", "time"].map((name) => make("button", { type: "button",
        "aria-pressed": String(context.state.values.order === name),
        onclick: () => context.state.change({ order: name }) },
      name === "heavy" ? "Heaviest first" : "In the order of time")),
      make("button", { type: "button", onclick: () => this.zoom(null) }, "Whole"));
    this.element = make("section.flames", {}, order, this.status,
      layout.boxes.length === 0 ? make("p.empty", {}, context.nothing) : this.canvas);
    new ResizeObserver(() => this.draw()).observe(this.element);
  }

  draw() {
    const width = this.element.clientWidth;
    if (width === 0 || this.layout.boxes.length === 0) return;
    const rows = this.layout.boxes.reduce((most, box) => Math.max(most, box.row), 0) + 1;
    const context = sized(this.canvas, width, Math.min(rows, mostLevels) * levelHeight + 2);
    const scale = width / (this.view[1] - this.view[0]);
    const paint = new Paint(this.context.launch);
    context.font = "11px sans-serif";
    context.textBaseline = "middle";
    this.shown = [];
    for (const box of this.layout.boxes) {
      const left = Math.max(0, (box.from - this.view[0]) * scale);
      const right = Math.min(width, (box.to - this.view[0]) * scale);
      if (right - left < 0.4 || box.row >= mostLevels) continue;
      this.shown.push({ box, left, right });
      this.drawBox(context, paint, box, left, right);
    }
  }

  drawBox(context, paint, box, left, right) {
    const top = box.row * levelHeight, width = Math.max(0.6, right - left - 0.6);
    context.fillStyle = paint.of(box.function);
    context.fillRect(left, top, width, levelHeight - 1);
    if (box === this.chosen) {
      context.strokeStyle = paint.text;
      context.lineWidth = 2;
      context.strokeRect(left + 1, top + 1, Math.max(1, width - 2), levelHeight - 3);
    }
    const room = Math.floor((width - 6) / 6);
    if (room < 3) return;
    const name = this.context.launch.functions.short[box.function];
    context.fillStyle = paint.text;
    context.fillText(name.length > room ? `${name.slice(0, room - 1)}…` : name, left + 3,
      top + levelHeight / 2);
  }

  at(event) {
    const bounds = this.canvas.getBoundingClientRect();
    const x = event.clientX - bounds.left;
    const row = Math.floor((event.clientY - bounds.top) / levelHeight);
    return this.shown?.find(({ box, left, right }) =>
      box.row === row && x >= left && x < Math.max(right, left + 1))?.box ?? null;
  }

  describe(box) {
    const { functions } = this.context.launch;
    return [functions.name[box.function], functions.module[box.function],
      `${time(box.to - box.from)}, ${percent(box.to - box.from, this.layout.whole)}`];
  }

  hover(event) {
    const box = this.at(event);
    tell(event, box === null ? null : this.describe(box));
  }

  zoom(box) {
    this.view = box === null ? [0, this.layout.whole] : [box.from, box.to];
    this.choose(box);
  }

  choose(box) {
    this.chosen = box;
    this.status.textContent = box === null ? this.layout.caption : this.describe(box).join(" · ");
    this.draw();
  }

  key(event) {
    const { boxes } = this.layout;
    const current = this.chosen;
    const within = (box, outer) => box.from >= outer.from && box.to <= outer.to;
    const beside = (step) => {
      const row = boxes.filter((box) => box.row === current.row).sort((a, b) => a.from - b.from);
      return row[row.indexOf(current) + step];
    };
    const actions = {
      ArrowDown: () => current === null ? boxes[0]
        : boxes.find((box) => box.row === current.row + 1 && within(box, current)),
      ArrowUp: () => current && boxes.find((box) => box.row === current.row - 1
        && within(current, box)),
      ArrowRight: () => current && beside(1),
      ArrowLeft: () => current && beside(-1),
    };
    if (event.key in actions) {
      event.preventDefault();
      const next = actions[event.key]();
      if (next) this.choose(next);
    } else if (event.key === "Enter") {
      this.zoom(current);
    } else if (event.key === "Escape") {
      event.stopPropagation();
      this.zoom(null);
    }
  }
}

/** Own code is warm, the system's cool, what is no code grey; the hue tells neighbours apart. */
class Paint {
  constructor(launch) {
    this.launch = launch;
    this.dark = colour("scheme") === "dark";
    this.text = colour("text");
    this.known = new Map();
  }

  of(callee) {
    if (!this.known.has(callee)) this.known.set(callee, this.mixed(callee));
    return this.known.get(callee);
  }

  mixed(callee) {
    const { name, own } = this.launch.functions;
    if (name[callee].startsWith("[")) return this.dark ? "#4a4a50" : "#cfcfd4";
    let hash = 5381;
    for (let i = 0; i < name[callee].length; i += 1) {
      hash = (hash * 33 + name[callee].charCodeAt(i)) >>> 0;
    }
    const shade = hash % 12;
    const light = this.dark ? 26 + shade : 68 + shade;
    return own[callee] === 1 ? `hsl(${22 + shade * 2},${this.dark ? 55 : 85}%,${light}%)`
      : `hsl(${195 + shade * 3},${this.dark ? 28 : 45}%,${light + 4}%)`;
  }
}

function heavyOrder({ forest, state }) {
  const roots = state.values.inverted ? bottomUp(forest) : topDown(forest);
  const { whole } = forest;
  // What is narrower than this on the widest screen is not looked for.
  const least = whole / 8000;
  const boxes = [];
  const pending = [[roots, 0, 0]];
  while (pending.length > 0) {
    const [branches, start, row] = pending.pop();
    let from = start;
    for (const branch of branches) {
      if (branch.total < least || row >= mostLevels) continue;
      boxes.push({ from, to: from + branch.total, row, function: branch.function });
      pending.push([branch.children, from, row + 1]);
      from += branch.total;
    }
  }
  return { boxes, whole, caption: `heaviest first, ${time(whole)} in all` };
}

/** One thread's stacks side by side as they came; calls that went on are one box. */
function timeOrder({ launch, forest, state, selection }) {
  const main = launch.threads.find((thread) => thread.isMain) ?? launch.threads[0];
  const chosen = selection.threads?.length === 1 ? launch.threads[selection.threads[0]] : main;
  const { of, showsWaits } = weights[state.values.weight];
  const boxes = [];
  let open = [], now = 0;
  const close = (level) => {
    for (const box of open.splice(level)) box.to = now;
  };
  const add = (node, length) => {
    if (!(length > 0)) return;
    const path = pathOf(forest, node);
    let level = 0;
    while (level < path.length && open[level]?.function === path[level]) level += 1;
    close(level);
    for (; level < path.length; level += 1) {
      const box = { from: now, to: now, row: level, function: path[level] };
      boxes.push(box);
      open.push(box);
    }
    now += length;
  };
  forEachStretch(launch, { ...selection, threads: chosen ? [chosen.index] : [] },
    (thread, i, times) => {
      const waited = showsWaits ? of[3] * times[3] : 0;
      add(thread.stretches.stack[i],
        of[0] * times[0] + of[1] * times[1] + of[2] * times[2] + of[3] * times[3] - waited);
      add(thread.stretches.wait[i], waited);
    });
  close(0);
  const who = chosen ? `${chosen.isMain ? "the main thread" : chosen.label}, ` : "";
  return { boxes, whole: now,
    caption: `${who}in the order of time, ${time(now)} of ${weights[state.values.weight].title.toLowerCase()} time`
      + (selection.threads === null ? "; select another thread in the timeline" : "") };
}

/** Functions, outermost first, of those that the forest has kept. */
function pathOf(forest, node) {
  const path = [];
  for (let current = forest.homeOf(node); current >= 0; current = forest.caller[current]) {
    path.push(forest.function(current));
  }
  return path.reverse();
}
