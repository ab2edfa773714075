// The launch that the page carries, its columns as arrays of numbers.

export const states = ["running", "runnable", "preempted", "blocked"];

/** What a weight counts of a stretch's four times. */
export const weights = {
  cpu: { title: "CPU", of: [1, 0, 0, 0], showsWaits: false },
  wall: { title: "Wall", of: [1, 1, 1, 1], showsWaits: true },
  blocked: { title: "Blocked", of: [0, 0, 0, 1], showsWaits: true },
  runnable: { title: "Runnable", of: [0, 1, 1, 0], showsWaits: false },
};

/** Columns of differences become what they stand for; the rest stays as it is. */
export function decode(raw) {
  const launch = decodeTimeline(raw);
  launch.threads.forEach((thread, index) => {
    thread.stretches = decodeStretches(raw.threads[index].stretches);
    thread.scattered = decodeScattered(raw.threads[index].scattered, thread.stretches);
  });
  launch.nodes = decodeNodes(raw.nodes);
  addShortNames(launch.functions);
  addSystemCode(launch);
  return launch;
}

/** The same of what a timeline shows. */
export function decodeTimeline(raw) {
  const launch = { ...raw };
  launch.phases = raw.phases.map((phase) => ({ ...phase, end: phase.start + phase.wall }));
  launch.threads = raw.threads.map((thread, index) => ({
    ...thread, index, label: labelOf(thread, raw.children), runs: decodeRuns(thread.runs) }));
  for (const list of ["initializers", "intervals", "waits", "children"]) {
    launch[list] = raw[list].map((entry, index) =>
      ({ ...entry, index, end: entry.start + entry.wall }));
  }
  launch.imports = decodeImports(raw.imports);
  return launch;
}

/** `parent` is the position of what brought a module; null: the program's own statement. */
function decodeImports(columns) {
  const imports = [];
  let start = 0;
  columns.name.forEach((name, index) => {
    start += columns.start[index];
    const distance = columns.parent[index];
    const parent = distance > 0 ? index - distance : null;
    imports.push({ index, name, start, parent, wall: columns.wall[index],
      end: start + columns.wall[index], depth: parent === null ? 0 : imports[parent].depth + 1,
      cpu: columns.cpu[index], ownWall: columns.ownWall[index], ownCPU: columns.ownCPU[index],
      isAwaited: columns.isAwaited[index] === 1, thread: columns.thread[index],
      file: columns.files[columns.file[index]] ?? null });
  });
  return imports;
}

/** Only names that are too long have a shorter one. */
export function addShortNames(functions) {
  functions.short = functions.name.map((name, index) => functions.short[index] ?? name);
}

/** Threads of other processes than the recorded one are called by their process, too. */
function labelOf({ name, tid, isMain, process }, children) {
  const label = name === "" ? `(${tid})` : `${name} (${tid})`;
  if (process > 0) {
    const owner = children[process - 1];
    return owner.pid === tid ? `${owner.name} (${tid})` : `${owner.name} · ${label}`;
  }
  return isMain ? `main thread (${tid})` : label;
}

function sums(differences) {
  const result = new Int32Array(differences);
  for (let i = 1; i < result.length; i += 1) result[i] += result[i - 1];
  return result;
}

function decodeStretches(columns) {
  const count = columns.gap.length;
  const list = decodeKindsAndTimes(columns);
  const { times } = list;
  const start = new Float64Array(count), end = new Float64Array(count);
  // How much of the time before each is no stretch's.
  const free = new Float64Array(count);
  let last = 0, gaps = 0;
  for (let i = 0; i < count; i += 1) {
    gaps += columns.gap[i];
    free[i] = gaps;
    start[i] = last + columns.gap[i];
    last = start[i] + times[0][i] + times[1][i] + times[2][i] + times[3][i];
    end[i] = last;
  }
  return { count, start, end, free, ...list };
}

/** How much of the time before a moment is no stretch's. */
export function freeBefore(stretches, moment) {
  const next = firstAbove(stretches.end, moment);
  if (next === stretches.count) {
    const last = stretches.count - 1;
    return last < 0 ? moment : stretches.free[last] + moment - stretches.end[last];
  }
  return stretches.free[next] + Math.min(0, moment - stretches.start[next]);
}

/**
 * Those that lie somewhere in a part of the launch: in the time that no stretch of their thread has.
 * `from` and `to` are the ends of that part on a clock that stands still in stretches.
 */
function decodeScattered(columns, stretches) {
  const count = columns.start.length;
  const start = new Float64Array(columns.start);
  for (let i = 1; i < count; i += 1) start[i] += start[i - 1];
  const from = start.map((moment) => freeBefore(stretches, moment));
  const to = start.map((moment, i) => freeBefore(stretches, moment + columns.length[i]));
  return { count, from, to, ...decodeKindsAndTimes(columns) };
}

function decodeKindsAndTimes(columns) {
  const times = states.map((state) => new Float64Array(columns[state]));
  const stack = sums(columns.stack);
  const wait = new Int32Array(columns.wait);
  for (let i = 0; i < wait.length; i += 1) wait[i] += stack[i];
  return { times, phase: sums(columns.phase), stack, wait };
}

function decodeRuns(columns) {
  const count = columns.gap.length;
  const start = new Float64Array(count), end = new Float64Array(count);
  let last = 0;
  for (let i = 0; i < count; i += 1) {
    start[i] = last + columns.gap[i];
    last = start[i] + columns.length[i];
    end[i] = last;
  }
  return { count, start, end, state: new Uint8Array(columns.state) };
}

/** Callers' positions from how far before each node they are; -1: it has none. */
export function callersFrom(distances) {
  const caller = new Int32Array(distances);
  for (let i = 0; i < caller.length; i += 1) caller[i] = caller[i] > 0 ? i - caller[i] : -1;
  return caller;
}

function decodeNodes(columns) {
  const caller = callersFrom(columns.caller);
  return { count: caller.length, caller, frame: sums(columns.frame) };
}

/** The frame that stands for time without any own code, where the system's is hidden. */
function addSystemCode(launch) {
  launch.systemFrame = launch.frames.function.length;
  launch.frames.function.push(launch.functions.name.length);
  launch.frames.file.push(-1);
  launch.frames.line.push(0);
  launch.frames.inlined.push(0);
  launch.functions.name.push("[system code only]");
  launch.functions.short.push("[system code only]");
  launch.functions.module.push("[unknown]");
  launch.functions.own.push(0);
  launch.functions.language.push(-1);
  launch.functions.scripted.push(0);
}

/** What a function was written in, where viewers want it told; null: compiled code, or not known. */
export function scriptLanguage(functions, callee) {
  return functions.scripted[callee] === 1 ? functions.languages[functions.language[callee]] : null;
}

/** The first position at which a sorted list's value is greater than `value`. */
export function firstAbove(list, value, count = list.length) {
  let low = 0, high = count;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (list[middle] > value) high = middle; else low = middle + 1;
  }
  return low;
}
