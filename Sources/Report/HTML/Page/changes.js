// What changed, as lists: by phase, by place in the code, and what else is known of.
import { restOf, statusOf } from "./compared.js";
import { make } from "./dom.js";
import { change, fileName, time } from "./format.js";
import { table } from "./table.js";

/** A figure before, after, and its difference; in a list where nothing is better seen as nothing. */
export function pairColumns(of, group = "") {
  const prefix = group === "" ? "" : `${group}: `;
  const cell = (value) => value === 0 ? "–" : time(value);
  return [
    { title: `${prefix}before`, of: (row) => of(row)[0], text: (row) => cell(of(row)[0]), isNumber: true },
    { title: `${prefix}after`, of: (row) => of(row)[1], text: (row) => cell(of(row)[1]), isNumber: true },
    changeColumn("difference", of),
  ];
}

function changeColumn(title, of) {
  const difference = (row) => of(row)[1] - of(row)[0];
  return { title, of: difference, text: (row) => changeOf(difference(row)), isNumber: true };
}

/** In the colour of its direction. */
export function changeOf(nanoseconds) {
  const kind = nanoseconds > 0 ? "span.slower" : nanoseconds < 0 ? "span.faster" : "span";
  return make(kind, {}, change(nanoseconds));
}

// MARK: Phases

/** Side by side, with bars on one scale. */
export function phaseList(comparison, act) {
  const longest = comparison.phases.reduce((most, { wall }) => Math.max(most, ...wall), 1);
  const total = { name: "Launch", wall: comparison.wall, cpu: comparison.cpu,
    blocked: comparison.blocked, seen: 3 };
  const columns = [
    { title: "Phase", of: (phase) => phase.name,
      text: (phase) => withStatus(phase.name, statusOf(phase.seen)) },
    { title: "Wall, and blocked of it", of: (phase) => Math.max(...phase.wall),
      text: (phase) => phase === total ? "" : bars(phase, longest) },
    ...pairColumns((phase) => phase.wall, "wall"), ...pairColumns((phase) => phase.cpu, "CPU"),
    ...pairColumns((phase) => phase.blocked, "main blocked"),
  ];
  return table("phases", columns, comparison.phases, act, { last: total });
}

function bars(phase, longest) {
  return make("div.bars", { "aria-hidden": "true" }, ...["before", "after"].map((name, side) => {
    const bar = make(`div.bar.${name}`, {}, make("i"));
    const wall = Math.max(0, phase.wall[side]);
    bar.style.width = `${wall / longest * 100}%`;
    bar.firstChild.style.width = `${wall > 0 ? Math.min(1, Math.max(0, phase.blocked[side]) / wall) * 100 : 0}%`;
    return bar;
  }));
}

function withStatus(name, status) {
  return make("span", {}, name, status === "" ? null : make("span.status", {}, `(${status})`));
}

// MARK: Places in the code

/** What accounts for one phase's difference; choosing a line shows it in the flame graph. */
export function changeList(comparison, phase, show) {
  if (phase.changes.length === 0) return null;
  const rest = { node: null, place: "", kind: "changed", ...restOf(phase) };
  const isRest = Object.values(restOf(phase)).every(([before, after]) => before === 0 && after === 0);
  const columns = [
    functionColumn(comparison, (entry) => entry.node === null ? null : phase.nodes.function[entry.node],
      (entry) => entry.kind === "changed" ? "" : entry.kind, (entry) => entry.caller),
    placeColumn((entry) => entry.place),
    ...pairColumns((entry) => entry.wall),
    changeColumn("of it CPU", (entry) => entry.cpu),
    changeColumn("blocked", (entry) => entry.blocked),
  ];
  return make("div", {}, make("h3", {}, `${phase.name}: what accounts for `,
    changeOf(phase.wall[1] - phase.wall[0])),
  table(`${phase.name}: what accounts for the difference`, columns, phase.changes,
    (entry) => show(phase.index, entry.node), { last: isRest ? null : rest, most: 8 }));
}

/** Functions by their own time, where it changed by enough. */
export function functionList(comparison, phase) {
  if (phase.functions.length === 0) return null;
  const columns = [
    functionColumn(comparison, (entry) => entry.function, () => "", () => -1),
    placeColumn((entry) => entry.place), ...pairColumns((entry) => entry.own),
    changeColumn("with callees", (entry) => entry.total),
  ];
  return make("details", {}, make("summary", {}, `${phase.name}: functions by their own time`),
    table(`${phase.name}: functions by their own time`, columns, phase.functions));
}

function functionColumn({ functions }, of, status, caller) {
  const name = (row) => of(row) === null ? "everything else" : functions.name[of(row)];
  return { title: "Function", of: name, text: (row) => {
    const callee = of(row);
    if (callee === null) return make("span.dim", {}, name(row));
    const outer = caller(row);
    const isOwn = functions.own[callee] === 1;
    return make("span", {},
      make(isOwn ? "span.own" : "span", { title: functions.name[callee] }, functions.short[callee]),
      outer < 0 ? null : make("span.caller", { title: functions.name[outer] },
        `← ${functions.short[outer]}`),
      functions.module[callee] === "[unknown]" ? null
        : make("span.module", {}, functions.module[callee]),
      status(row) === "" ? null : make("span.status", {}, `(${status(row)})`));
  } };
}

function placeColumn(of) {
  return { title: "Place", of, text: (row) => make("span.place", { title: of(row) }, fileName(of(row))) };
}

// MARK: What else is known

const listed = (title, content, empty) => make("section", {}, make("h2", {}, title),
  content ?? make("p.empty", {}, empty));

/** The main thread's waits, processes, initialisers and libraries that changed. */
export function changedFacts(comparison) {
  const { waits, processes, initializers, libraries, functions } = comparison;
  return [
    listed("The main thread's waits (of 1 ms or longer)", waits.length === 0 ? null
      : table("waits", [
        { title: "For", of: (wait) => wait.reason },
        { title: "In", of: (wait) => wait.function < 0 ? "" : functions.name[wait.function],
          text: (wait) => wait.function < 0 ? "not known" : functions.short[wait.function] },
        { title: "Phase", of: (wait) => wait.phase ?? "" },
        { title: "times before", of: (wait) => wait.count[0], isNumber: true },
        { title: "after", of: (wait) => wait.count[1], isNumber: true },
        ...pairColumns((wait) => wait.duration),
      ], waits), "none changed"),
    // Of launches that were recorded without their processes there is nothing to say.
    ...(processes.length === 0 ? [] : [listed("Processes that were started, and their wall time together",
      table("processes", [
        { title: "Name", of: (process) => process.name },
        { title: "before", of: (process) => process.count[0], isNumber: true },
        { title: "after", of: (process) => process.count[1], isNumber: true },
        ...pairColumns((process) => process.wall),
      ], processes), "")]),
    listed("Initialisers (timed, not sampled)", initializers.length === 0 ? null
      : table("initialisers", [
        functionColumn(comparison, (run) => run.function, (run) => statusOf(run.seen), () => -1),
        placeColumn((run) => run.place), ...pairColumns((run) => run.wall),
      ], initializers), "none changed"),
    listed("Libraries, and what loading (dlopen) or initialising them took", libraries.length === 0 ? null
      : table("libraries", [
        { title: "Library", of: (library) => library.name,
          text: (library) => withStatus(library.name, statusOf(library.seen)) },
        ...pairColumns((library) => library.wall),
      ], libraries), "none is new, gone or changed"),
  ];
}

/** Findings that are new, gone, changed or as before; the largest change first. */
export function comparedFindings(comparison) {
  const { findings } = comparison;
  if (findings.length === 0) return listed("Findings", null, "neither launch has one");
  const items = findings.map((finding) => make("li", { "data-status": finding.status },
    make("h3", {}, make("span.status", {}, statusWord(finding.status)), " ",
      `${findingTimes(finding)}: ${finding.title}`),
    make("p.place", {}, finding.place),
    finding.status === "gone" ? null
      : make("div", {}, ...finding.details.map((detail) => make("p", {}, detail))),
    finding.status === "new" && finding.advice !== "" ? make("p.advice", {}, `→ ${finding.advice}`) : null));
  return listed(`Findings: ${countOf(findings)}`, make("ul.findings", {}, ...items));
}

function statusWord(status) { return status === "same" ? "as before" : status; }

function countOf(findings) {
  return ["new", "gone", "changed", "same"].map((status) => {
    const count = findings.filter((finding) => finding.status === status).length;
    return count === 0 ? null : `${count} ${statusWord(status)}`;
  }).filter((part) => part !== null).join(", ");
}

function findingTimes({ status, saving: [before, after] }) {
  if (status === "changed") return `${time(before)} → ${time(after)}`;
  return time(status === "gone" ? before : after);
}
