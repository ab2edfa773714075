// What the timeline's lanes show, and how each is painted.
import { colour } from "./dom.js";
import { fileName, percent, time } from "./format.js";
import { firstAbove, states } from "./launch.js";

/** From nanoseconds to points of the page and back. */
export class Scale {
  constructor(from, to, width) {
    this.from = from;
    this.to = to;
    this.width = width;
    this.factor = width / (to - from);
  }
  x(time) { return (time - this.from) * this.factor; }
  time(x) { return this.from + x / this.factor; }
}

/** All lanes below the phases, from the top. Each paints itself and tells what lies at a point. */
export function lanesOf(launch) {
  const lanes = [];
  if (launch.intervals.length > 0 || launch.signposts.length > 0) {
    lanes.push(new SpanLane("intervals", "Signposts and marks", intervalSpans(launch)));
  }
  if (launch.libraries.length > 0 || launch.initializers.length > 0) {
    lanes.push(new SpanLane("libraries", "Libraries and initialisers", librarySpans(launch)));
  }
  if (launch.children.length > 0) {
    lanes.push(new SpanLane("children", "Child processes", childSpans(launch)));
  }
  const threads = [...launch.threads].sort((a, b) =>
    a.process - b.process || Number(b.isMain) - Number(a.isMain) || a.start - b.start || a.index - b.index);
  return lanes.concat(threads.flatMap((thread) => [
    ...importLanes(launch, thread), new ThreadLane(launch, thread)]));
}

/** Above a thread what it imported, if anything. */
function importLanes(launch, thread) {
  const spans = importSpans(launch, thread);
  if (spans.length === 0) return [];
  const lane = new SpanLane(`imports${thread.index}`, `Imports · ${thread.label}`, spans,
    mostImportRows);
  lane.process = thread.process;
  return [lane];
}

/** Each one row below what brought it. */
function importSpans(launch, thread) {
  return launch.imports.filter((run) => run.thread === thread.index).map((run) => ({
    start: run.start, end: run.end, kind: "import", name: run.name, row: run.depth,
    select: { imported: run.index },
    lines: [run.isAwaited ? `${run.name}: imported by another thread` : `import ${run.name}`,
      run.file, `wall ${time(run.wall)}, without what it imported ${time(run.ownWall)}`,
      `CPU ${time(run.cpu)}, without what it imported ${time(run.ownCPU)}`,
      run.parent === null ? null : `imported by ${launch.imports[run.parent].name}`],
  }));
}

function intervalSpans(launch) {
  const spans = launch.intervals.map((interval) => ({
    start: interval.start, end: interval.end, kind: "interval", name: interval.name,
    select: { interval: interval.index },
    lines: [interval.name, `${time(interval.wall)}, from ${time(interval.start)}`
      + (interval.isComplete ? "" : "; its end was not seen"),
    interval.thread === null ? null : launch.threads[interval.thread].label],
  }));
  const events = launch.signposts.map((signpost) => ({
    start: signpost.time, end: signpost.time, kind: "event", name: signpost.name, select: null,
    lines: [signpost.name, `at ${time(signpost.time)}`],
  }));
  return [...spans, ...events];
}

function librarySpans(launch) {
  const runs = launch.initializers.map((run) => {
    return { start: run.start, end: run.end, kind: "initializer", name: run.name,
      select: { initializer: run.index },
      lines: [run.name, run.module, `initialiser: ${time(run.wall)}, ${time(run.cpu)} of it CPU`] };
  });
  const loads = launch.libraries.map((library) => ({
    start: library.start, end: library.start + (library.wall ?? 0),
    kind: library.wall === null ? "event" : "library", name: fileName(library.path),
    select: library.wall === null ? null
      : { range: [library.start, library.start + library.wall] },
    lines: [library.path, library.wall === null ? `loaded at ${time(library.start)}`
      : `dlopen: ${time(library.wall)}, from ${time(library.start)}`],
  }));
  return [...loads, ...runs];
}

function childSpans(launch) {
  return launch.children.map((child) => ({ start: child.start, end: child.end, kind: "child",
    name: child.name, process: child.index + 1, select: { range: [Math.max(0, child.start), child.end] },
    lines: [`${child.name} (${child.pid})`, `${time(child.wall)}, ${time(child.cpu)} of CPU`,
      `ended: ${child.ended}`] }));
}

const spanHeight = 16, mostSpanRows = 6, mostImportRows = 10;

/** Stretches of time with names, as many rows as overlap, and points in time. */
class SpanLane {
  /** Spans without a row of their own get the first that is free; rows beyond the last are the last. */
  constructor(id, title, spans, mostRows = mostSpanRows) {
    this.id = id;
    this.title = title;
    this.thread = null;
    this.spans = spans.sort((a, b) => a.start - b.start || b.end - a.end);
    const ends = [];
    for (const span of this.spans) {
      let row = span.row ?? ends.findIndex((end) => end <= span.start);
      if (row < 0) row = ends.length;
      row = Math.min(row, mostRows - 1);
      ends[row] = Math.max(ends[row] ?? 0, span.end);
      span.row = row;
    }
    this.rows = Math.max(1, ends.length);
    this.height = this.rows * spanHeight + 4;
  }

  paint(context, scale) {
    const text = colour("text");
    context.font = "11px sans-serif";
    context.textBaseline = "middle";
    // Where many lie on one point of the screen, one is drawn.
    const drawn = new Int32Array(this.rows).fill(-10);
    for (const span of this.spans) {
      const left = Math.max(-2, scale.x(span.start)), right = Math.min(scale.width + 2, scale.x(span.end));
      if (right < 0 || left > scale.width) continue;
      if (Math.round(right) === drawn[span.row] && right - left < 1) continue;
      drawn[span.row] = Math.round(right);
      const top = span.row * spanHeight + 2;
      context.fillStyle = colour(span.kind);
      if (span.kind === "event") { diamond(context, left, top + spanHeight / 2 - 1); continue; }
      const width = Math.max(1, right - left);
      context.fillRect(left, top, width, spanHeight - 2);
      label(context, span.name, Math.max(0, left), right, top + spanHeight / 2 - 1, text);
    }
  }

  at(x, y, scale) {
    const row = Math.floor((y - 2) / spanHeight);
    const reach = 3 / scale.factor;
    const now = scale.time(x);
    let best = null;
    for (const span of this.spans) {
      if (span.row !== row || span.start - reach > now || span.end + reach < now) continue;
      if (best === null || span.end - span.start <= best.end - best.start) best = span;
    }
    return best;
  }
}

function diamond(context, x, y) {
  context.beginPath();
  context.moveTo(x, y - 5);
  context.lineTo(x + 4, y);
  context.lineTo(x, y + 5);
  context.lineTo(x - 4, y);
  context.fill();
}

function label(context, text, left, right, y, ink) {
  const room = Math.floor((right - left - 6) / 6);
  if (room < 3) return;
  context.fillStyle = ink;
  context.fillText(text.length > room ? `${text.slice(0, room - 1)}…` : text, left + 3, y);
}

const stripHeight = 14, stateHeight = 12;

/** A thread: how much of each moment it ran, and below it its state. */
class ThreadLane {
  constructor(launch, thread) {
    this.id = `thread${thread.index}`;
    this.title = thread.label;
    this.thread = thread.index;
    this.process = thread.process;
    this.launch = launch;
    this.runs = thread.runs;
    this.waits = launch.waits.filter((wait) => wait.thread === thread.index)
      .sort((a, b) => a.start - b.start);
    this.waitStarts = Float64Array.from(this.waits, (wait) => wait.start);
    this.height = stripHeight + stateHeight + 6;
  }

  paint(context, scale) {
    const shares = this.shares(scale);
    const paints = states.map((name, state) => pattern(context, name, state));
    let start = 0, last = -1;
    for (let x = 0; x <= scale.width; x += 1) {
      const state = x < scale.width ? strongest(shares, x) : -1;
      if (state !== last) {
        if (last >= 0) {
          context.fillStyle = paints[last];
          context.fillRect(start, stripHeight + 4, x - start, stateHeight);
        }
        [start, last] = [x, state];
      }
    }
    context.fillStyle = colour("running");
    for (let x = 0; x < scale.width; x += 1) {
      const height = shares[4 * x] * stripHeight;
      if (height > 0) context.fillRect(x, stripHeight + 2 - height, 1, height);
    }
  }

  /** For each point of the screen, what part of it each state has. */
  shares(scale) {
    const { runs } = this;
    const shares = new Float32Array(4 * Math.ceil(scale.width));
    for (let i = firstAbove(runs.end, scale.from); i < runs.count && runs.start[i] < scale.to; i += 1) {
      const left = Math.max(0, scale.x(runs.start[i]));
      const right = Math.min(scale.width, scale.x(runs.end[i]));
      for (let x = Math.floor(left); x < right; x += 1) {
        shares[4 * x + runs.state[i]] += Math.min(right, x + 1) - Math.max(left, x);
      }
    }
    return shares;
  }

  at(x, y, scale) {
    const now = scale.time(x);
    const i = firstAbove(this.runs.end, now);
    if (i >= this.runs.count || this.runs.start[i] > now) return null;
    const [start, end] = [this.runs.start[i], this.runs.end[i]];
    const lines = [this.title, `${states[this.runs.state[i]]} for ${time(end - start)}, from ${time(start)}`];
    const wait = this.runs.state[i] === 3 ? this.waitAt(now) : null;
    if (wait !== null) {
      lines.push(wait.reason, wait.endedBy === "–" ? null : `ended by: ${wait.endedBy}`);
    }
    const width = 1 / scale.factor;
    if (end - start < width) lines.push(this.around(now, width, scale));
    return { start, end, lines, select: null };
  }

  waitAt(now) {
    const i = firstAbove(this.waitStarts, now) - 1;
    return i >= 0 && this.waits[i].end >= now ? this.waits[i] : null;
  }

  /** Of what is too short to be seen, the shares. */
  around(now, width, scale) {
    const shares = this.shares(new Scale(now - width / 2, now + width / 2, 1));
    const parts = states.map((name, state) => shares[state] > 0 ? `${name} ${percent(shares[state], 1)}` : null);
    return `around it (${time(width)}): ${parts.filter((part) => part !== null).join(", ")}`;
  }
}

/** The state that has most of a point; -1: none. */
function strongest(shares, x) {
  let best = -1, most = 0;
  for (let state = 0; state < 4; state += 1) {
    if (shares[4 * x + state] > most) { most = shares[4 * x + state]; best = state; }
  }
  return best;
}

/** States differ by their pattern, too, for those who do not tell the colours apart. */
function pattern(context, name, state) {
  const paint = colour(name);
  if (state === 0) return paint;
  const tile = document.createElement("canvas");
  [tile.width, tile.height] = [6, 6];
  const ink = tile.getContext("2d");
  ink.fillStyle = paint;
  ink.fillRect(0, 0, 6, 6);
  ink.strokeStyle = ink.fillStyle = colour("pattern");
  ink.lineWidth = 1;
  ink.beginPath();
  if (state === 1) { ink.moveTo(0, 6); ink.lineTo(6, 0); }
  if (state === 2) { ink.moveTo(0, 0); ink.lineTo(6, 6); ink.moveTo(0, 6); ink.lineTo(6, 0); }
  if (state === 3) ink.rect(2, 2, 1, 1);
  ink.stroke();
  return context.createPattern(tile, "repeat");
}
