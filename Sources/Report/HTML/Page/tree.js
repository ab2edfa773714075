// Call trees: callers above callees, or functions by their own time with their callers below.
import { make } from "./dom.js";
import { percent, time, timeCell } from "./format.js";
import { bottomUp, topDown } from "./forest.js";
import { functionName, placeOf, sourceExcerpt } from "./source.js";

const mostLines = 2000;

/** What is open, and which line is chosen, by the functions on the way there: it outlasts a change
 * of the selection. */
const memory = { open: new Map(), chosen: null };

export function treeView(context) {
  const { forest, state } = context;
  const tree = new Tree(context, state.values.inverted ? bottomUp(forest) : topDown(forest));
  return tree.element;
}

class Tree {
  constructor(context, roots) {
    this.context = context;
    this.inverted = context.state.values.inverted;
    this.search = new Search(context.forest, context.state.values.search, this.inverted);
    this.roots = roots;
    this.body = make("tbody");
    this.detail = make("div.detail", { "aria-live": "polite" });
    const table = make("table.tree", { role: "treegrid", "aria-label": "call tree",
      onkeydown: (event) => this.key(event) },
    make("thead", {}, make("tr", {}, make("th.number", {}, "Total"), make("th.number", {}, "Share"),
      make("th.number", {}, "Self"), make("th", {}, this.inverted
        ? "Function, its callers below" : "Function, what it called below"))),
    this.body);
    this.element = make("section.with-detail", {}, make("div.scroll", {}, table), this.detail);
    this.fill();
  }

  /** The lines that are to be seen, from the top. */
  *lines(branches, path, level, isBelowMatch) {
    for (const branch of branches) {
      if (!isBelowMatch && !this.search.reaches(branch)) continue;
      const key = `${path}/${branch.function}`;
      const isMatch = this.search.matches(branch);
      const isOpen = branch.hasChildren && this.isOpen(key, branch, isMatch);
      yield { branch, key, level, isOpen, isMatch };
      if (isOpen) yield* this.lines(branch.children, key, level + 1, isBelowMatch || isMatch);
    }
  }

  /** Until somebody decides: what leads to something found, and what is heavy. */
  isOpen(key, branch, isMatch) {
    const decided = memory.open.get(`${this.inverted} ${key}`);
    if (decided !== undefined) return decided;
    if (this.search.isOn) return !isMatch;
    return !this.inverted && branch.total > 0.1 * this.context.whole;
  }

  fill() {
    const rows = [];
    for (const line of this.lines(this.roots, "", 1, !this.search.isOn)) {
      if (rows.length === mostLines) break;
      rows.push(this.row(line));
    }
    if (rows.length === 0) {
      const text = this.search.isOn ? "nothing with this name here" : this.context.nothing;
      rows.push(make("tr", {}, make("td.empty", { colspan: 4 }, text)));
    } else if (rows.length === mostLines) {
      rows.push(make("tr", {}, make("td.empty", { colspan: 4 },
        `only the first ${mostLines} lines are shown: search, or close some`)));
    }
    this.body.replaceChildren(...rows);
    const chosen = rows.find((row) => row.dataset.key === memory.chosen) ?? rows[0];
    chosen.tabIndex = 0;
    if (chosen.dataset.key === memory.chosen) this.choose(chosen, false);
  }

  row(line) {
    const { launch, whole } = this.context;
    const { branch, level, isOpen } = line;
    const mark = branch.hasChildren ? (isOpen ? "▾" : "▸") : "";
    const cell = make("td.name-cell", {}, make("span.mark", { "aria-hidden": "true" }, mark),
      functionName(launch, branch.function, branch.frame), " ", placeOf(launch, branch.frame));
    cell.style.paddingLeft = `${Math.min(level - 1, 40) * 12 + 4}px`;
    const row = make(line.isMatch ? "tr.match" : "tr", {
      role: "row", "aria-level": level, tabindex: -1, "data-key": line.key,
      "aria-expanded": branch.hasChildren ? String(isOpen) : null,
    }, make("td.number", {}, time(branch.total)), share(branch.total, whole),
    make("td.number", {}, timeCell(branch.own)), cell);
    row.line = line;
    row.addEventListener("click", (event) => {
      this.choose(row);
      if (event.target.className === "mark") this.toggle(row);
    });
    row.addEventListener("dblclick", () => this.toggle(row));
    return row;
  }

  choose(row, takesFocus = true) {
    for (const other of this.body.querySelectorAll("[aria-selected]")) {
      other.removeAttribute("aria-selected");
      other.tabIndex = -1;
    }
    row.setAttribute("aria-selected", "true");
    row.tabIndex = 0;
    if (takesFocus) row.focus();
    memory.chosen = row.dataset.key;
    this.describe(row.line.branch);
  }

  describe(branch) {
    const { launch, state } = this.context;
    const isFocused = state.values.focus === branch.function;
    this.detail.replaceChildren(
      make("div.detail-head", {}, functionName(launch, branch.function, branch.frame), " ",
        placeOf(launch, branch.frame), " ",
        make("button", { type: "button", onclick: () =>
          state.change({ focus: isFocused ? null : branch.function }) },
        isFocused ? "Show all again" : "Focus on this function (f)")),
      sourceExcerpt(launch, branch.frame) ?? "");
  }

  toggle(row, open = !row.line.isOpen) {
    if (!row.line.branch.hasChildren || open === row.line.isOpen) return;
    memory.open.set(`${this.inverted} ${row.line.key}`, open);
    memory.chosen = row.dataset.key;
    this.fill();
    this.body.querySelector("[tabindex='0']").focus();
  }

  key(event) {
    const row = event.target.closest("tr");
    if (row === null || row.line === undefined) return;
    const outer = () => {
      let other = row.previousElementSibling;
      while (other !== null && other.line.level >= row.line.level) {
        other = other.previousElementSibling;
      }
      return other;
    };
    const actions = {
      ArrowDown: () => row.nextElementSibling,
      ArrowUp: () => row.previousElementSibling,
      Home: () => this.body.firstElementChild,
      End: () => this.body.lastElementChild,
      ArrowRight: () => row.line.isOpen ? row.nextElementSibling : this.toggle(row, true),
      ArrowLeft: () => row.line.isOpen ? this.toggle(row, false) : outer(),
      Enter: () => this.toggle(row),
      f: () => this.context.state.change({ focus: row.line.branch.function }),
    };
    if (!(event.key in actions) || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    const next = actions[event.key]();
    if (next?.line !== undefined) this.choose(next);
  }
}

function share(part, whole) {
  const cell = make("td.number.share", {}, percent(part, whole));
  cell.style.setProperty("--part", whole > 0 ? Math.min(1, part / whole) : 0);
  return cell;
}

/** Which lines lead to functions of a name. */
class Search {
  constructor(forest, text, inverted) {
    const wanted = text.trim().toLowerCase();
    this.isOn = wanted !== "";
    if (!this.isOn) return;
    const { name, module } = forest.launch.functions;
    this.found = name.map((callee, index) =>
      callee.toLowerCase().includes(wanted) || module[index].toLowerCase().includes(wanted));
    const count = forest.own.length;
    this.leads = Uint8Array.from({ length: count }, (_, node) =>
      this.found[forest.function(node)] ? 1 : 0);
    // Callers stand before what they call.
    if (inverted) {
      for (let node = 0; node < count; node += 1) {
        if (forest.caller[node] >= 0) this.leads[node] |= this.leads[forest.caller[node]];
      }
    } else {
      for (let node = count - 1; node >= 0; node -= 1) {
        const caller = forest.caller[node];
        if (caller >= 0 && forest.total[node] > 0) this.leads[caller] |= this.leads[node];
      }
    }
  }

  matches(branch) { return this.isOn && this.found[branch.function]; }

  reaches(branch) {
    return !this.isOn || branch.members.some(([, node]) => this.leads[node] === 1);
  }
}
