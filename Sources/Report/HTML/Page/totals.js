// How much time of a selection each stack has.
import { firstAbove, freeBefore, weights } from "./launch.js";

/**
 * Calls `body(list, stretch, times, thread)` for every stretch of a selection (`phase`, `range` in
 * nanoseconds, `threads`; null is all): each thread's that have a place in their order, and then those
 * that are scattered over a part of the launch; `list` holds their columns.
 * `times` are its four states' nanoseconds, of one that lies in part in the range its share: where
 * inside it each state lay is not known. The array is used again.
 */
export function forEachStretch(launch, selection, body) {
  const times = new Float64Array(4);
  const [from, to] = selection.range ?? [-Infinity, Infinity];
  for (const thread of launch.threads) {
    if (selection.threads !== null && !selection.threads.includes(thread.index)) continue;
    const { stretches, scattered } = thread;
    for (let i = firstAbove(stretches.end, from); i < stretches.count; i += 1) {
      if (stretches.start[i] >= to) break;
      visit(stretches, i, partWithin(stretches.start[i], stretches.end[i], from, to));
    }
    const [first, last] = selection.range === null
      ? [-Infinity, Infinity] : [from, to].map((moment) => freeBefore(stretches, moment));
    for (let i = 0; i < scattered.count; i += 1) {
      visit(scattered, i, partWithin(scattered.from[i], scattered.to[i], first, last));
    }

    function visit(list, i, part) {
      if (part === 0 || selection.phase !== null && list.phase[i] !== selection.phase) return;
      for (let state = 0; state < 4; state += 1) times[state] = part * list.times[state][i];
      body(list, i, times, thread);
    }
  }
}

/** How much of a stretch lies in a range: 0 to 1. One without an extent lies in it or does not. */
function partWithin(start, end, from, to) {
  if (start >= from && end <= to) return 1;
  return end > start ? Math.max(0, Math.min(to, end) - Math.max(from, start)) / (end - start) : 0;
}

/** Each stack's own time by a weight, and all threads' times by state. */
export function ownTimes(launch, selection, weight) {
  const { of, showsWaits } = weights[weight];
  const own = new Float64Array(launch.nodes.count);
  const whole = new Float64Array(4);
  const threads = launch.threads.map(() => new Float64Array(4));
  forEachStretch(launch, selection, (list, i, times, thread) => {
    for (let state = 0; state < 4; state += 1) {
      whole[state] += times[state];
      threads[thread.index][state] += times[state];
      const stack = state === 3 && showsWaits ? list.wait[i] : list.stack[i];
      own[stack] += of[state] * times[state];
    }
  });
  return { own, whole, threads };
}

/** The sum of four times by a weight. */
export function weighed(times, weight) {
  return weights[weight].of.reduce((sum, factor, state) => sum + factor * times[state], 0);
}
