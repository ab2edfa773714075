// Flame graphs, roots at the top: as wide as their time, heaviest first or in the order of time.
import { BoxChart, mostLevels } from "./boxes.js";
import { colour, make } from "./dom.js";
import { percent, time } from "./format.js";
import { bottomUp, topDown } from "./forest.js";
import { forEachStretch } from "./totals.js";
import { scriptLanguage, weights } from "./launch.js";

export function flameView(context) {
  const isTime = context.state.values.order === "time";
  const layout = isTime ? timeOrder(context) : heavyOrder(context);
  return new BoxChart(layout, new FlameLook(context, layout)).element;
}

/** Boxes of functions. */
class FlameLook {
  constructor(context, layout) {
    this.launch = context.launch;
    this.whole = layout.whole;
    this.nothing = context.nothing;
    this.label = `flame graph, ${layout.caption}; the call tree tells the same in words`;
    const { state } = context;
    this.tools = ["heavy", "time"].map((name) => make("button", { type: "button",
      "aria-pressed": String(state.values.order === name),
      onclick: () => state.change({ order: name }) },
    name === "heavy" ? "Heaviest first" : "In the order of time"));
  }

  name(box) { return this.launch.functions.short[box.function]; }

  lines(box) {
    const { functions } = this.launch;
    return [functions.name[box.function], this.place(box), `${time(box.to - box.from)}, ${percent(box.to - box.from, this.whole)}`];
  }

  /** The module; of a script, with the line that took most and the language. */
  place(box) {
    const { functions, frames } = this.launch;
    const module = functions.module[box.function], line = frames.line[box.frame];
    const language = scriptLanguage(functions, box.function);
    return language === null ? module : `${module}${line > 0 ? `:${line}` : ""}, ${language}`;
  }

  paint() { return new Paint(this.launch); }
}

/**
 * Own code is warm, the system's cool, what is no code grey; scripts are yellow and green, with a bar
 * for those who do not tell colours apart. The hue tells neighbours apart.
 */
class Paint {
  constructor(launch) {
    this.launch = launch;
    this.dark = colour("scheme") === "dark";
    this.text = colour("text");
    this.known = new Map();
  }

  fill(context, box, left, top, width, height) {
    const callee = box.function;
    if (!this.known.has(callee)) this.known.set(callee, this.mixed(callee));
    context.fillStyle = this.known.get(callee);
    context.fillRect(left, top, width, height);
    if (this.launch.functions.scripted[callee] !== 1) return;
    context.fillStyle = colour("script");
    context.fillRect(left, top + height - 2, width, 2);
  }

  mixed(callee) {
    const { name, own, scripted } = this.launch.functions;
    if (name[callee].startsWith("[")) return this.dark ? "#4a4a50" : "#cfcfd4";
    let hash = 5381;
    for (let i = 0; i < name[callee].length; i += 1) {
      hash = (hash * 33 + name[callee].charCodeAt(i)) >>> 0;
    }
    const shade = hash % 12;
    const light = this.dark ? 26 + shade : 68 + shade;
    const [warm, cool] = scripted[callee] === 1 ? [46, 110] : [22, 195];
    return own[callee] === 1 ? `hsl(${warm + shade * 2},${this.dark ? 55 : 85}%,${light}%)`
      : `hsl(${cool + shade * 3},${this.dark ? 28 : 45}%,${light + 4}%)`;
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
      boxes.push({ from, to: from + branch.total, row, function: branch.function,
        frame: branch.frame });
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
  let open = [], now = 0, scattered = 0;
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
    (list, i, times, thread) => {
      const whole = of[0] * times[0] + of[1] * times[1] + of[2] * times[2] + of[3] * times[3];
      if (list !== thread.stretches) {
        scattered += whole;
        return;
      }
      const waited = showsWaits ? of[3] * times[3] : 0;
      add(list.stack[i], whole - waited);
      add(list.wait[i], waited);
    });
  close(0);
  const who = chosen ? `${chosen.isMain ? "the main thread" : chosen.label}, ` : "";
  return { boxes, whole: now,
    caption: `${who}in the order of time, ${time(now)} of ${weights[state.values.weight].title.toLowerCase()} time`
      + (scattered > 0 ? ` (without ${time(scattered)} of rare stacks, whose moments are not known)` : "")
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
