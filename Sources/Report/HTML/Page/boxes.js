// Boxes in rows, as wide as their time: what flame graphs are drawn as.
import { make, sized, tell } from "./dom.js";

const levelHeight = 18;

/** Deeper rows are not drawn. */
export const mostLevels = 400;

/**
 * Boxes are `{from, to, row, …}`; from and to are parts of the layout's `whole`. The look tells of a
 * box its `name(box)` and `lines(box)`, and of all `label`, `nothing`, `tools` (elements above), and
 * `paint()`, what colours have: `{text, fill(context, box, left, top, width, height)}`.
 */
export class BoxChart {
  constructor(layout, look) {
    this.layout = layout;
    this.look = look;
    this.view = [0, layout.whole];
    this.chosen = null;
    this.canvas = make("canvas.flame", { tabindex: 0, role: "img", "aria-label": look.label,
      onmousemove: (event) => this.hover(event), onmouseleave: (event) => tell(event, null),
      onclick: (event) => this.zoom(this.at(event)), onkeydown: (event) => this.key(event) });
    this.frame = make("div.boxes", {}, this.canvas);
    this.status = make("p.caption", { "aria-live": "polite" }, layout.caption);
    const tools = make("div.choice", { role: "group", "aria-label": "flame graph" }, ...look.tools,
      make("button", { type: "button", onclick: () => this.zoom(null) }, "Whole"));
    this.element = make("section.flames", {}, tools, this.status,
      layout.boxes.length === 0 ? make("p.empty", {}, look.nothing) : this.frame);
    new ResizeObserver(() => this.draw()).observe(this.frame);
  }

  /** Boxes that are too narrow to see are left out, but not the chosen one: keys lead to it, too. */
  draw() {
    const width = this.frame.clientWidth;
    if (width === 0 || this.layout.boxes.length === 0) return;
    const scale = width / (this.view[1] - this.view[0]);
    this.shown = [];
    let rows = 1;
    for (const box of this.layout.boxes) {
      const left = Math.max(0, (box.from - this.view[0]) * scale);
      const right = Math.min(width, (box.to - this.view[0]) * scale);
      const least = box === this.chosen ? 0 : 0.4;
      if (right - left < least || box.row >= mostLevels) continue;
      this.shown.push({ box, left, right });
      rows = Math.max(rows, box.row + 1);
    }
    const context = sized(this.canvas, width, rows * levelHeight + 2);
    const paint = this.look.paint();
    context.font = "11px sans-serif";
    context.textBaseline = "middle";
    for (const { box, left, right } of this.shown) this.drawBox(context, paint, box, left, right);
  }

  drawBox(context, paint, box, left, right) {
    const top = box.row * levelHeight, width = Math.max(0.6, right - left - 0.6);
    paint.fill(context, box, left, top, width, levelHeight - 1);
    if (box === this.chosen) {
      context.strokeStyle = paint.text;
      context.lineWidth = 2;
      context.strokeRect(left + 1, top + 1, Math.max(1, width - 2), levelHeight - 3);
    }
    const room = Math.floor((width - 6) / 6);
    if (room < 3) return;
    const name = this.look.name(box);
    context.fillStyle = paint.text;
    context.fillText(name.length > room ? `${name.slice(0, room - 1)}…` : name, left + 3,
      top + levelHeight / 2);
  }

  at(event) {
    const bounds = this.canvas.getBoundingClientRect();
    const x = event.clientX - bounds.left;
    const row = Math.floor((event.clientY - bounds.top) / levelHeight);
    return this.shown?.find(({ box, left, right }) =>
      box.row === row && x >= left && x < Math.max(right, left + 1))?.box ?? null;
  }

  hover(event) {
    const box = this.at(event);
    tell(event, box === null ? null : this.look.lines(box));
  }

  zoom(box) {
    this.view = box === null ? [0, this.layout.whole] : [box.from, box.to];
    this.choose(box);
  }

  choose(box) {
    this.chosen = box;
    this.status.textContent = box === null ? this.layout.caption : this.look.lines(box).join(" · ");
    if (box !== null && (box.to <= this.view[0] || box.from >= this.view[1])) {
      this.view = [0, this.layout.whole];
    }
    this.draw();
    if (box !== null) this.scrollTo(box);
  }

  /** Where the frame is lower than its boxes. */
  scrollTo({ row }) {
    const { frame } = this;
    const top = row * levelHeight;
    const lowest = Math.max(0, top + 2 * levelHeight - frame.clientHeight);
    frame.scrollTop = Math.min(Math.max(frame.scrollTop, lowest), top);
  }

  key(event) {
    const { boxes } = this.layout;
    const current = this.chosen;
    const within = (box, outer) => box.from >= outer.from && box.to <= outer.to;
    const beside = (step) => {
      const row = boxes.filter((box) => box.row === current.row).sort((a, b) => a.from - b.from);
      return row[row.indexOf(current) + step];
    };
    const actions = {
      ArrowDown: () => current === null ? boxes[0]
        : boxes.find((box) => box.row === current.row + 1 && within(box, current)),
      ArrowUp: () => current && boxes.find((box) => box.row === current.row - 1
        && within(current, box)),
      ArrowRight: () => current && beside(1),
      ArrowLeft: () => current && beside(-1),
    };
    if (event.key in actions) {
      event.preventDefault();
      const next = actions[event.key]();
      if (next) this.choose(next);
    } else if (event.key === "Enter") {
      this.zoom(current);
    } else if (event.key === "Escape") {
      event.stopPropagation();
      this.zoom(null);
    }
  }
}
