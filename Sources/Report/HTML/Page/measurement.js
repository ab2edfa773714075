// A measurement's page is there without scripts. This one tells of what is pointed at, shows the
// same launch in all plots, and lets keys do what the pointer does.
import { tell } from "./dom.js";

/** How far from a mark the pointer may be, in pixels. */
const reach = 18;

/** The marks of one plot. Browsers would show their titles, too: these become their labels. */
class Plot {
  constructor(element) {
    this.element = element;
    this.marks = [...element.querySelectorAll(".datum")];
    for (const mark of this.marks) {
      const title = mark.querySelector("title");
      mark.told = title.textContent.split("\n");
      title.remove();
    }
    this.chosen = -1;
    element.tabIndex = 0;
  }

  /** Places do not change while the page has one width. */
  get places() {
    const { width } = this.element.getBoundingClientRect();
    if (this.width !== width) {
      this.width = width;
      const plot = this.element.getBoundingClientRect();
      this.known = this.marks.map((mark) => {
        const box = mark.getBoundingClientRect();
        return { left: box.left - plot.left, right: box.right - plot.left,
          top: box.top - plot.top, bottom: box.bottom - plot.top };
      });
    }
    return this.known;
  }

  /** The position of the mark nearest to a point; -1 if none is near. */
  nearest(x, y) {
    const plot = this.element.getBoundingClientRect();
    let [found, least] = [-1, reach];
    this.places.forEach(({ left, right, top, bottom }, index) => {
      const across = Math.max(left - (x - plot.left), x - plot.left - right, 0);
      const down = Math.max(top - (y - plot.top), y - plot.top - bottom, 0);
      // Of those that the pointer is on, the one whose middle is nearest.
      const middle = Math.abs(x - plot.left - (left + right) / 2)
        + Math.abs(y - plot.top - (top + bottom) / 2);
      const distance = Math.hypot(across, down) + Math.min(middle, 1000) / 1e4;
      if (distance < least) [found, least] = [index, distance];
    });
    return found;
  }
}

class MeasurementPage {
  constructor() {
    this.plots = [...document.querySelectorAll("svg.plot")].map((element) => new Plot(element))
      .filter((plot) => plot.marks.length > 0);
    /** What shows a launch, by its number. */
    this.shown = new Map();
    for (const element of document.querySelectorAll("[data-launch]")) {
      const { launch } = element.dataset;
      if (!this.shown.has(launch)) this.shown.set(launch, []);
      this.shown.get(launch).push(element);
    }
    this.current = [];
    this.plots.forEach((plot) => this.listen(plot));
    for (const row of document.querySelectorAll("tr[data-launch]")) {
      row.addEventListener("mouseenter", () => this.highlight(row.dataset.launch));
      row.addEventListener("mouseleave", () => this.highlight());
    }
  }

  listen(plot) {
    const { element } = plot;
    element.addEventListener("mousemove", (event) => {
      this.choose(plot, plot.nearest(event.clientX, event.clientY), event);
    });
    element.addEventListener("mouseleave", () => this.choose(plot, -1));
    element.addEventListener("blur", () => this.choose(plot, -1));
    element.addEventListener("click", () => this.open(plot));
    element.addEventListener("keydown", (event) => this.key(plot, event));
  }

  key(plot, event) {
    const last = plot.marks.length - 1;
    const next = {
      ArrowRight: Math.min(plot.chosen + 1, last), ArrowLeft: Math.max(plot.chosen - 1, 0),
      Home: 0, End: last, Escape: -1,
    }[event.key];
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "Enter") { this.open(plot); return; }
    if (next === undefined) return;
    event.preventDefault();
    const box = next < 0 ? null : plot.marks[next].getBoundingClientRect();
    this.choose(plot, next, box && { clientX: box.right, clientY: box.bottom });
  }

  /** Tells of a mark, beside a point; -1: of none. */
  choose(plot, index, point) {
    plot.chosen = index;
    const mark = plot.marks[index];
    tell(point, mark === undefined ? null : mark.told);
    this.highlight(mark?.dataset.launch, mark);
  }

  highlight(launch, mark) {
    for (const element of this.current) element.classList.remove("current");
    this.current = [...this.shown.get(launch) ?? [], ...mark === undefined ? [] : [mark]];
    for (const element of this.current) element.classList.add("current");
  }

  /** Its line in the table. */
  open(plot) {
    const launch = plot.marks[plot.chosen]?.dataset.launch;
    const row = launch === undefined ? null : document.getElementById(`launch-${launch}`);
    if (row === null) return;
    const folded = row.closest("details");
    if (folded !== null) folded.open = true;
    row.scrollIntoView({ block: "center" });
  }
}

window.firstlight = new MeasurementPage();
document.documentElement.dataset.ready = String(Math.round(performance.now()));
