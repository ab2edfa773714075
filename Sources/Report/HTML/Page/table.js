// Lists with columns that can be sorted by.
import { make } from "./dom.js";

const mostAtFirst = 500;

/**
 * Columns are `{title, of, text?, isNumber?}`: `of` gives what is sorted by, `text` what is shown
 * (text or an element). `act(row)` is what choosing a row does. `last` stands below all, however they
 * are sorted; of the others, `most` are shown at first.
 */
export function table(label, columns, rows, act = null, { last = null, most = mostAtFirst } = {}) {
  const view = { by: null, descending: true, all: false };
  const body = make("tbody");
  const head = make("tr");
  const fill = () => {
    head.replaceChildren(...columns.map((column) => heading(column, view, fill)));
    const sorted = view.by === null ? rows : [...rows].sort((a, b) =>
      (view.descending ? -1 : 1) * compare(view.by.of(a), view.by.of(b)));
    const shown = view.all ? sorted : sorted.slice(0, most);
    body.replaceChildren(...shown.map((row) => line(columns, row, act)));
    if (shown.length < rows.length) {
      const more = () => { view.all = true; fill(); };
      body.append(make("tr", {}, make("td", { colspan: columns.length },
        make("button", { type: "button", onclick: more }, `Show all ${rows.length}`))));
    }
  };
  fill();
  return make("div.scroll", {},
    make("table.list", { "aria-label": label }, make("thead", {}, head), body,
      last === null ? null : make("tfoot", {}, line(columns, last, null))));
}

function compare(a, b) {
  if (typeof a === "string" || typeof b === "string") return String(a).localeCompare(String(b));
  return (a ?? -Infinity) - (b ?? -Infinity);
}

function heading(column, view, fill) {
  const isSorted = view.by === column;
  const sort = () => {
    view.descending = isSorted ? !view.descending : column.isNumber === true;
    view.by = column;
    fill();
  };
  return make(column.isNumber ? "th.number" : "th", {
    scope: "col", "aria-sort": isSorted ? (view.descending ? "descending" : "ascending") : null,
  }, make("button.sort", { type: "button", onclick: sort }, column.title,
    isSorted ? (view.descending ? " ↓" : " ↑") : ""));
}

function line(columns, row, act) {
  const cells = columns.map((column) => make(column.isNumber ? "td.number" : "td", {},
    column.text ? column.text(row) : String(column.of(row) ?? "–")));
  if (act === null) return make("tr", {}, ...cells);
  return make("tr.action", { tabindex: 0, onclick: () => act(row),
    onkeydown: (event) => {
      if (event.key !== "Enter" || event.target.tagName !== "TR") return;
      act(row);
    } }, ...cells);
}
