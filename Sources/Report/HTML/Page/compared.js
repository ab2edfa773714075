// Two launches compared, as the page carries them. What is of both is a pair: before, after.
import { addShortNames, callersFrom, decodeTimeline } from "./launch.js";

export const sides = ["before", "after"];

export function decodeComparison(raw) {
  const comparison = { ...raw, launches: raw.launches.map(decodeTimeline) };
  comparison.phases = raw.phases.map((phase, index) => ({
    ...phase, index, nodes: decodeTree(phase.nodes),
  }));
  addShortNames(comparison.functions);
  return comparison;
}

const costs = ["wall", "cpu", "blocked"];

/**
 * Times of stacks that end in a node (`own`) and go through it (`total`), and what it is wide: the
 * longer of its own two times, and its callees' widths. So all have room, also where one vanished
 * and another came.
 */
function decodeTree(columns) {
  const caller = callersFrom(columns.caller), count = caller.length;
  const own = {}, total = {};
  for (const cost of costs) {
    own[cost] = columns[cost].map((times) => new Float64Array(times));
    total[cost] = own[cost].map((times) => times.slice());
  }
  const width = Float64Array.from(own.wall[0], (before, i) => Math.max(0, before, own.wall[1][i]));
  const sums = [width, ...costs.flatMap((cost) => total[cost])];
  // Callees come after their callers.
  for (let i = count - 1; i >= 0; i -= 1) {
    if (caller[i] < 0) continue;
    for (const sum of sums) sum[caller[i]] += sum[i];
  }
  return { ...columns, count, caller, own, total, width };
}

/** Of a list of columns for both sides, what is at a position. */
export function pairAt(columns, i) { return [columns[0][i], columns[1][i]]; }

/** "gone", "new", or nothing: on which sides it was seen. */
export function statusOf(seen) { return ["", "gone", "new", ""][seen]; }

/** What a phase's changes leave of it: so that all lines add up to the phase. */
export function restOf(phase) {
  const rest = {};
  for (const cost of costs) {
    rest[cost] = [0, 1].map((side) => phase.main[cost][side]
      - phase.changes.reduce((sum, entry) => sum + entry[cost][side], 0));
  }
  return rest;
}

/** What a thread did from one moment to another: a time for each state. */
export function statesWithin(thread, [from, to]) {
  const times = [0, 0, 0, 0];
  const { runs } = thread;
  for (let i = 0; i < runs.count; i += 1) {
    const overlap = Math.min(to, runs.end[i]) - Math.max(from, runs.start[i]);
    if (overlap > 0) times[runs.state[i]] += overlap;
  }
  return times;
}
