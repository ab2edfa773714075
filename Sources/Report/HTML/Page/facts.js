// What is known besides samples, as lists of what the selection has a part in.
import { make } from "./dom.js";
import { bytes, fileName, percent, time, timeCell } from "./format.js";
import { states } from "./launch.js";
import { functionName, placeOf } from "./source.js";
import { table } from "./table.js";

function within(context, start, end, thread) {
  const { span, selection } = context;
  if (selection.threads !== null && thread !== null && !selection.threads.includes(thread)) {
    return false;
  }
  return span === null || start < span[1] && (end > span[0] || start >= span[0]);
}

function threadName(launch, thread) {
  return thread === null ? "not known" : launch.threads[thread].label;
}

const none = (text) => make("p.empty", {}, text);

/** Waits, signposts and readiness, in the order of time. */
export function eventsView(context) {
  const { launch, state } = context;
  const events = [
    ...launch.waits.map((wait) => ({ start: wait.start, wall: wait.wall, end: wait.end,
      thread: wait.thread, what: wait.reason, who: wait.endedBy, stack: wait.stack })),
    ...launch.signposts.map((signpost) => ({ start: signpost.time, wall: 0, end: signpost.time,
      thread: signpost.thread, what: `signpost: ${signpost.name}`, who: "", stack: -1 })),
  ];
  if (launch.ready !== null) {
    events.push({ start: launch.ready.time, wall: 0, end: launch.ready.time, thread: null,
      what: `ready (${launch.ready.by})`, who: "", stack: -1 });
  }
  const shown = events.filter((event) => within(context, event.start, event.end, event.thread))
    .sort((a, b) => a.start - b.start);
  if (shown.length === 0) {
    return none(launch.leavesOutWaits
      ? "none of the waits that this page has lies here, and there are no signposts"
      : "no thread was blocked for 1 ms or longer here, and there are no signposts");
  }
  return table("events", [
    { title: "Start", of: (event) => event.start, text: (event) => time(event.start), isNumber: true },
    { title: "Blocked", of: (event) => event.wall, text: (event) => timeCell(event.wall), isNumber: true },
    { title: "Thread", of: (event) => threadName(launch, event.thread) },
    { title: "What", of: (event) => event.what },
    { title: "Ended by", of: (event) => event.who },
    { title: "Where", of: (event) => place(launch, event.stack) },
  ], shown, (event) => event.wall > 0
    && state.select({ range: [event.start, event.end], thread: event.thread, weight: "blocked" }));
}

/** The innermost functions of the developer's own, or if there are none, the innermost. */
function place(launch, node) {
  const all = [];
  for (let current = node; current >= 0; current = launch.nodes.caller[current]) {
    all.push(launch.frames.function[launch.nodes.frame[current]]);
  }
  const own = all.filter((callee) => launch.functions.own[callee] === 1);
  return (own.length > 0 ? own : all).slice(0, 3).map((callee) => launch.functions.short[callee])
    .join(" ← ");
}

export function intervalsView(context) {
  const { launch, state } = context;
  const shown = launch.intervals.filter((entry) =>
    within(context, entry.start, entry.end, null));
  if (shown.length === 0) return none("the program reported no intervals here (signposts, --mark)");
  return table("intervals", [
    { title: "Start", of: (entry) => entry.start, text: (entry) => time(entry.start), isNumber: true },
    { title: "Wall", of: (entry) => entry.wall, text: (entry) => time(entry.wall), isNumber: true },
    { title: "CPU, all threads", of: (entry) => entry.cpu, text: (entry) => timeCell(entry.cpu), isNumber: true },
    { title: "Interval", of: (entry) => entry.name,
      text: (entry) => entry.name + (entry.isComplete ? "" : " (its end was not seen)") },
    { title: "Category", of: (entry) => entry.category || "mark" },
    { title: "Thread", of: (entry) => threadName(launch, entry.thread) },
  ], shown, (entry) => state.select({ interval: entry.index }));
}

export function initializersView(context) {
  const { launch, state } = context;
  const shown = launch.initializers.filter((run) => within(context, run.start, run.end, run.thread))
    .sort((a, b) => b.wall - a.wall);
  if (shown.length === 0) {
    return none("no initialisers were seen here: there are none, or they could not be watched");
  }
  return table("initialisers", [
    { title: "Wall", of: (run) => run.wall, text: (run) => time(run.wall), isNumber: true },
    { title: "CPU", of: (run) => run.cpu, text: (run) => timeCell(run.cpu), isNumber: true },
    { title: "Share", of: (run) => run.wall, text: (run) => percent(run.wall, launch.wall), isNumber: true },
    { title: "Start", of: (run) => run.start, text: (run) => time(run.start), isNumber: true },
    { title: "Initialiser", of: (run) => launch.functions.name[launch.frames.function[run.frame]],
      text: (run) => make("span", {},
        functionName(launch, launch.frames.function[run.frame]), " ",
        placeOf(launch, run.frame) ?? (run.file ? fileName(run.file) : ""),
        run.isComplete ? "" : " (never returned)") },
  ], shown, (run) => state.select({ initializer: run.index, weight: "wall" }));
}

/** Every import below what brought it, the longest first. */
export function importsView(context) {
  const { launch, state } = context;
  const shown = importsInOrder(launch.imports).filter((run) =>
    within(context, run.start, run.end, run.thread));
  if (shown.length === 0) {
    return none("no imports were seen here: the program runs no Python, or its imports were shorter "
      + "than the time between two stacks, or its frames could not be read");
  }
  const column = (title, of) => ({ title, of, text: (run) => timeCell(of(run)), isNumber: true });
  return table("imports", [
    column("Wall", (run) => run.wall),
    { title: "Share", of: (run) => run.wall, text: (run) => percent(run.wall, launch.wall), isNumber: true },
    column("Self wall", (run) => run.ownWall), column("CPU", (run) => run.cpu),
    column("Self CPU", (run) => run.ownCPU),
    { title: "Start", of: (run) => run.start, text: (run) => time(run.start), isNumber: true },
    { title: "Import", of: (run) => run.name, text: importName },
    { title: "Imported by", of: (run) => run.parent === null ? "–" : launch.imports[run.parent].name },
    { title: "Thread", of: (run) => threadName(launch, run.thread) },
  ], shown, (run) => state.select({ imported: run.index, weight: "wall" }));
}

const deepestShift = 12;

function importName(run) {
  const name = make("span.name", {}, run.isAwaited ? `waiting for ${run.name}` : run.name);
  return make("span", {}, "\u2003".repeat(Math.min(run.depth, deepestShift)), name,
    run.file === null ? null : make("span.place", { title: run.file }, fileName(run.file)));
}

/** Callers first, the longest first among those of one caller. */
function importsInOrder(imports) {
  const brought = new Map();
  for (const run of imports) {
    if (!brought.has(run.parent)) brought.set(run.parent, []);
    brought.get(run.parent).push(run);
  }
  const order = [];
  // From the end of a list, the last one that was put there comes first.
  const pending = [];
  const push = (parent) => pending.push(...(brought.get(parent) ?? [])
    .sort((a, b) => a.wall - b.wall || b.start - a.start));
  push(null);
  while (pending.length > 0) {
    const run = pending.pop();
    order.push(run);
    push(run.index);
  }
  return order;
}

export function librariesView(context) {
  const { launch } = context;
  const shown = launch.libraries.filter((library) =>
    within(context, library.start, library.start + (library.wall ?? 0), null));
  if (shown.length === 0) return none("no libraries were loaded here");
  return table("libraries", [
    { title: "Start", of: (library) => library.start, text: (library) => time(library.start), isNumber: true },
    { title: "dlopen", of: (library) => library.wall,
      text: (library) => library.wall === null ? "–" : time(library.wall), isNumber: true },
    { title: "Initialisers", of: (library) => library.initializers,
      text: (library) => library.initializers === null ? "–" : time(library.initializers), isNumber: true },
    { title: "Size", of: (library) => library.size, text: (library) => bytes(library.size), isNumber: true },
    { title: "Library", of: (library) => library.path,
      text: (library) => make(library.own ? "span.own" : "span", { title: library.path }, fileName(library.path)) },
    { title: "Used", of: (library) => used(library) },
    { title: "Symbols", of: (library) => symbols(library) },
    { title: "For", of: (library) => requester(launch, library) },
  ], shown);
}

function used(library) {
  if (library.used === null) return "not known";
  return library.used ? "yes" : "not seen";
}

/** Whether another file that was loaded names one of its symbols. */
function symbols(library) {
  if (library.referenced === null) return "not known";
  return library.referenced ? "needed" : "none needed";
}

function requester(launch, library) {
  if (library.requestedBy !== null) return fileName(library.requestedBy);
  const own = library.caller.map((frame) => launch.frames.function[frame])
    .filter((callee) => launch.functions.own[callee] === 1);
  if (own.length > 0) return `dlopen in ${launch.functions.name[own[own.length - 1]]}`;
  return library.isInitial ? "not known" : "a dlopen";
}

export function threadsView(context) {
  const { launch, threadTimes, state } = context;
  const rows = launch.threads.map((thread) => ({ thread, times: threadTimes[thread.index],
    wall: threadTimes[thread.index].reduce((sum, part) => sum + part, 0) }))
    .filter((row) => row.wall > 0);
  if (rows.length === 0) return none("no thread did anything here");
  const column = (title, of) => ({ title, of, text: (row) => timeCell(of(row)), isNumber: true });
  return table("threads", [
    { title: "Thread", of: (row) => row.thread.label },
    ...states.map((name, state) => column(name, (row) => row.times[state])),
    column("Wall", (row) => row.wall),
    { title: "From", of: (row) => row.thread.start, text: (row) => time(row.thread.start), isNumber: true },
    { title: "To", of: (row) => row.thread.end, text: (row) => time(row.thread.end), isNumber: true },
    { title: "Priority", of: (row) => row.thread.priority || "–" },
  ], rows, (row) => state.change({ thread: row.thread.index }));
}

/** What made the launch longer than it needs to be; most at stake first. */
export function findingsView(context) {
  const { launch, state } = context;
  const shown = launch.findings.filter((finding) =>
    within(context, finding.start, finding.end, finding.thread));
  if (shown.length === 0) return none("nothing stands out here");
  return make("ol.findings", {}, ...shown.map((finding) => make("li", {},
    make("h3", {}, `${time(finding.saving)}: ${finding.title}`),
    make("p.place", {}, `${launch.threads[finding.thread].label} · ${finding.place}`),
    ...finding.details.map((detail) => make("p", {}, detail)),
    finding.advice === "" ? null : make("p.advice", {}, `→ ${finding.advice}`),
    make("button", { type: "button", onclick: () =>
      state.select({ range: [finding.start, finding.end], thread: finding.thread,
        weight: finding.kind.endsWith("wait") || finding.kind === "sleep" ? "blocked" : "cpu",
        tab: "heaviest" }) }, "Show it in the timeline"))));
}

/** Every phase with its figures; choosing one selects it. */
export function phasesView(context) {
  const { launch, state } = context;
  const number = (value) => value === null ? "not known" : value.toLocaleString("en-US");
  return table("phases", [
    { title: "Phase", of: (phase) => phase.name },
    { title: "Start", of: (phase) => phase.start, text: (phase) => time(phase.start), isNumber: true },
    { title: "Wall", of: (phase) => phase.wall, text: (phase) => time(phase.wall), isNumber: true },
    { title: "CPU, all threads", of: (phase) => phase.cpu, text: (phase) => timeCell(phase.cpu), isNumber: true },
    { title: "Share", of: (phase) => phase.wall, text: (phase) => percent(phase.wall, launch.wall), isNumber: true },
    { title: "Page faults", of: (phase) => phase.minorFaults, text: (phase) => number(phase.minorFaults), isNumber: true },
    { title: "From disk", of: (phase) => phase.majorFaults, text: (phase) => number(phase.majorFaults), isNumber: true },
    { title: "Read", of: (phase) => phase.readBytes,
      text: (phase) => phase.readBytes === null ? "not known" : bytes(phase.readBytes), isNumber: true },
  ], launch.phases, (phase) => state.select({ phase: launch.phases.indexOf(phase) }));
}
