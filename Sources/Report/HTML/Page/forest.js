// Stacks as trees, merged by function: from the outermost callers, or from the innermost functions.

/**
 * The stacks of a selection with their own times. `caller` of a node is -1 where it has none, and
 * comes before it.
 */
export class Forest {
  constructor(launch, caller, frame, own, home = null) {
    this.launch = launch;
    this.home = home;
    this.caller = caller;
    this.frame = frame;
    this.own = own;
    this.total = own.slice();
    for (let node = own.length - 1; node >= 0; node -= 1) {
      if (caller[node] >= 0) this.total[caller[node]] += this.total[node];
    }
    this.callees = callees(caller);
  }

  function(node) { return this.launch.frames.function[this.frame[node]]; }

  /** The node that a node of the launch's has become; -1: it was left out. */
  homeOf(node) { return this.home === null ? node : this.home[node]; }

  static of(launch, own) {
    return new Forest(launch, launch.nodes.caller, launch.nodes.frame, own);
  }

  /** Only what runs in or below a function; its outermost calls become the roots. */
  focused(wanted) {
    const inside = new Uint8Array(this.own.length);
    return this.rebuilt((node) => {
      const caller = this.caller[node];
      const isBelow = caller >= 0 && inside[caller] === 1;
      inside[node] = isBelow || this.function(node) === wanted ? 1 : 0;
      return inside[node] === 1;
    }, false);
  }

  /** Without the system's functions: their time goes to the own code that called them. */
  withoutSystem() {
    const { functions } = this.launch;
    return this.rebuilt((node) => {
      const called = this.function(node);
      // What was waited for stays.
      return functions.own[called] === 1 || functions.module[called] === "[kernel]";
    }, true);
  }

  /**
   * With some nodes left out. Their own time goes to the nearest caller that stays; where none
   * does, to a root of its own, or nowhere.
   */
  rebuilt(stays, keepsRest) {
    const count = this.own.length;
    const home = new Int32Array(count), caller = new Int32Array(count + 1).fill(-1);
    const frame = new Int32Array(count + 1), own = new Float64Array(count + 1);
    frame[count] = this.launch.systemFrame;
    for (let node = 0; node < count; node += 1) {
      const outer = this.caller[node] >= 0 ? home[this.caller[node]] : -1;
      home[node] = stays(node) ? node : outer;
      caller[node] = home[node] === node ? outer : -1;
      frame[node] = this.frame[node];
      const target = home[node] >= 0 ? home[node] : keepsRest ? count : -1;
      if (target >= 0) own[target] += this.own[node];
    }
    const homes = Int32Array.from(this.home ?? home.keys(), (node) =>
      node < 0 ? -1 : home[node] >= 0 || !keepsRest ? home[node] : count);
    return new Forest(this.launch, caller, frame, own, homes);
  }

  /** The sum of all. */
  get whole() { return this.own.reduce((sum, time) => sum + time, 0); }
}

function callees(caller) {
  const starts = new Int32Array(caller.length + 2);
  for (const outer of caller) starts[outer + 2] += 1;
  for (let list = 1; list < starts.length; list += 1) starts[list] += starts[list - 1];
  const nodes = new Int32Array(caller.length), next = starts.slice();
  caller.forEach((outer, node) => { nodes[next[outer + 1]] = node; next[outer + 1] += 1; });
  // List 0 is that of the roots.
  return (node) => nodes.subarray(starts[node + 1], starts[node + 2]);
}

/**
 * A function with everything that it was called by (or that it called): one line of a tree.
 * `members` are pairs of where time was spent and how far the tree has gone from there.
 */
class Branch {
  constructor(forest, callee, members, inverted, level) {
    this.forest = forest;
    this.function = callee;
    this.members = members;
    this.inverted = inverted;
    this.level = level;
    this.total = 0;
    this.own = 0;
    let best = -1;
    for (const [origin, node] of members) {
      const time = inverted ? forest.own[origin] : forest.total[node];
      this.total += time;
      this.own += inverted ? 0 : forest.own[node];
      if (time > best) { best = time; this.frame = forest.frame[node]; }
    }
    if (inverted && level === 0) this.own = this.total;
  }

  get children() {
    this.found ??= this.divided();
    return this.found;
  }

  get hasChildren() {
    return this.members.some(([, node]) => this.inverted
      ? this.forest.caller[node] >= 0
      : this.forest.callees(node).some((inner) => this.forest.total[inner] > 0));
  }

  divided() {
    const next = [];
    for (const [origin, node] of this.members) {
      if (!this.inverted) {
        for (const inner of this.forest.callees(node)) next.push([inner, inner]);
      } else if (this.forest.caller[node] >= 0) {
        next.push([origin, this.forest.caller[node]]);
      }
    }
    return divided(this.forest, next, this.inverted, this.level + 1);
  }
}

/** By function, heaviest first, equals by name. */
function divided(forest, members, inverted, level) {
  const groups = new Map();
  for (const member of members) {
    const time = inverted ? forest.own[member[0]] : forest.total[member[1]];
    if (!(time > 0)) continue;
    const callee = forest.function(member[1]);
    if (!groups.has(callee)) groups.set(callee, []);
    groups.get(callee).push(member);
  }
  const names = forest.launch.functions.name;
  return [...groups].map(([callee, list]) => new Branch(forest, callee, list, inverted, level))
    .sort((a, b) => b.total - a.total || (names[a.function] < names[b.function] ? -1 : 1));
}

/** Threads' outermost functions, with what they called below. */
export function topDown(forest) {
  return divided(forest, Array.from(forest.callees(-1), (node) => [node, node]), false, 0);
}

/** The functions in which time was spent, with their callers below. */
export function bottomUp(forest) {
  const members = [];
  forest.own.forEach((time, node) => { if (time > 0) members.push([node, node]); });
  return divided(forest, members, true, 0);
}

/** From the heaviest root always to the heaviest callee. Time without a stack is no stack. */
export function heaviest(forest) {
  const names = forest.launch.functions.name;
  const path = [];
  let branch = topDown(forest).find((root) => names[root.function] !== "[no stack]");
  while (branch !== undefined) {
    path.push(branch);
    [branch] = branch.children;
  }
  return path;
}
