// The lanes, from the top: a ruler, the phases, what the program and its libraries told of, threads.
import { colour, make, sized, tell } from "./dom.js";
import { percent, time } from "./format.js";
import { Scale, lanesOf } from "./lanes.js";

/** Less than this cannot be looked into: nanoseconds. */
const leastZoom = 1000;

/** Threads of more children than these are shown when they are asked for. */
const mostProcesses = 12;

export class Timeline {
  /** Shows times until `extent`, where several launches share a scale. */
  constructor(launch, state, { extent = launch.wall, title = "timeline" } = {}) {
    this.launch = launch;
    this.state = state;
    this.extent = extent;
    this.title = title;
    this.lanes = lanesOf(launch);
    this.build();
    state.listen((names) => {
      if (["hidden", "pinned", "opened"].some((list) => names.includes(list))) this.arrange();
      if (names.some((name) => name !== "tab" && name !== "search")) this.draw();
    });
    new ResizeObserver(() => this.draw()).observe(this.element);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.draw());
  }

  // MARK: Elements

  build() {
    this.ruler = make("canvas");
    this.phases = make("div.phases", { role: "group", "aria-label": "phases" },
      ...this.launch.phases.map((phase, index) => this.phaseButton(phase, index)));
    this.selected = make("div.selected", { hidden: true });
    this.ready = make("div.ready", { hidden: true });
    this.head = make("div.head");
    this.list = make("div.lanes", { onscroll: () => this.draw() });
    this.hiddenNote = make("div.hidden-note", { hidden: true });
    for (const lane of this.lanes) this.buildLane(lane);
    const rulerTrack = make("div.track.ruler", { title: "drag to pan" }, this.ruler);
    this.track = make("div.track", {}, this.phases);
    this.element = make("section.timeline", { tabindex: 0, "aria-label":
      `${this.title}; arrows pan, + and - zoom, 0 shows all, brackets select the next phase` },
    make("div.lane", {}, make("div.label", {}, make("span", {}, "Time")), rulerTrack),
    make("div.lane", {}, make("div.label", {}, make("span", {}, "Phases")), this.track),
    this.head, this.list, this.hiddenNote,
    make("div.overlay", {}, this.selected, this.ready));
    this.arrange();
    this.listen(rulerTrack);
  }

  phaseButton(phase, index) {
    return make(phase.beforeMain ? "button.phase.before" : "button.phase.after", {
      type: "button", "aria-pressed": "false",
      onclick: () => this.state.select(
        this.state.isPhase(index) ? {} : { phase: index }),
      onmousemove: (event) => tell(event, [phase.name,
        `${time(phase.wall)}, ${percent(phase.wall, this.launch.wall)} of the launch`,
        `CPU of all threads ${time(phase.cpu)}`]),
      onmouseleave: (event) => tell(event, null),
    }, phase.name);
  }

  buildLane(lane) {
    lane.canvas = make("canvas", { role: "img", "aria-label": lane.title });
    lane.track = make("div.track", {
      onmousemove: (event) => this.hover(event, lane), onmouseleave: (event) => tell(event, null),
    }, lane.canvas);
    const button = (kind, symbol, text, act) => make(`button.${kind}`, { type: "button",
      title: text, "aria-label": `${text}: ${lane.title}`, onclick: act }, symbol);
    const name = lane.thread === null ? make("span", { title: lane.title }, lane.title)
      : make("button.name", { type: "button", title: `only ${lane.title}`, "aria-pressed": "false",
        onclick: () => this.state.change({ thread:
          this.state.values.thread === lane.thread ? null : lane.thread }) }, lane.title);
    lane.name = name;
    lane.pin = button("pin", "↑", "Pin", () => this.flip("pinned", lane.id));
    lane.element = make("div.lane", { "data-lane": lane.id }, make("div.label", {}, name,
      lane.pin, button("hide", "×", "Hide", () => this.flip("hidden", lane.id))), lane.track);
    this.select(lane);
  }

  flip(list, id) {
    const now = this.state.values[list];
    this.state.change({ [list]: now.includes(id) ? now.filter((one) => one !== id) : [...now, id] });
  }

  /** Whether a lane is of a process that is folded away, for there are many. */
  isFolded(lane) {
    return lane.process > 0 && this.launch.children.length > mostProcesses
      && !this.state.values.opened.includes(`process${lane.process}`);
  }

  /** Pinned lanes stand above those that scroll. */
  arrange() {
    const { hidden, pinned } = this.state.values;
    const folded = this.lanes.filter((lane) => this.isFolded(lane) && !pinned.includes(lane.id));
    const away = new Set([...folded.map((lane) => lane.id), ...hidden]);
    const shown = this.lanes.filter((lane) => !away.has(lane.id));
    const isPinned = (lane) => pinned.includes(lane.id);
    this.head.replaceChildren(...shown.filter(isPinned).map((lane) => lane.element));
    this.list.replaceChildren(...shown.filter((lane) => !isPinned(lane)).map((lane) => lane.element));
    for (const lane of this.lanes) lane.pin.setAttribute("aria-pressed", String(isPinned(lane)));
    const count = this.lanes.length - shown.length - folded.length;
    this.hiddenNote.hidden = count === 0 && folded.length === 0;
    const note = (text, button, values) => [text,
      make("button", { type: "button", onclick: () => this.state.change(values) }, button), " "];
    const processes = [...new Set(folded.map((lane) => `process${lane.process}`))];
    this.hiddenNote.replaceChildren(
      ...(count === 0 ? [] : note(`${count} ${count === 1 ? "lane" : "lanes"} hidden `, "Show",
        { hidden: [] })),
      ...(processes.length === 0 ? [] : note(
        `${processes.length} child ${processes.length === 1 ? "process" : "processes"} folded: click one to show its threads `,
        "Show all", { opened: [...this.state.values.opened, ...processes] })));
  }

  // MARK: Painting

  get view() { return this.state.values.zoom ?? [0, Math.max(1, this.extent)]; }

  get scale() {
    return new Scale(...this.view, Math.max(1, this.track.clientWidth));
  }

  /** Once for each picture that the screen shows. */
  draw() {
    if (this.isAsked) return;
    this.isAsked = true;
    requestAnimationFrame(() => { this.isAsked = false; this.paint(); });
  }

  paint() {
    const { scale } = this;
    if (this.element.clientWidth === 0) return;
    // The lanes below leave room for their scroll bar.
    const bar = this.list.offsetWidth - this.list.clientWidth;
    this.element.style.setProperty("--bar", `${bar}px`);
    this.paintRuler(scale);
    this.placePhases(scale);
    this.placeOverlay(scale);
    const bounds = this.list.getBoundingClientRect();
    for (const lane of this.lanes) {
      lane.track.style.height = `${lane.height}px`;
      if (!lane.element.isConnected) continue;
      if (lane.thread !== null) {
        lane.name.setAttribute("aria-pressed", String(this.state.values.thread === lane.thread));
      }
      const place = lane.element.getBoundingClientRect();
      const isSeen = this.head.contains(lane.element)
        || (place.bottom >= bounds.top && place.top <= bounds.bottom);
      if (isSeen) lane.paint(sized(lane.canvas, scale.width, lane.height), scale);
    }
  }

  paintRuler(scale) {
    const context = sized(this.ruler, scale.width, 22);
    context.font = "11px sans-serif";
    context.textBaseline = "middle";
    context.fillStyle = context.strokeStyle = colour("dim");
    const step = niceStep((scale.to - scale.from) / scale.width * 90);
    for (let tick = Math.ceil(scale.from / step) * step; tick <= scale.to; tick += step) {
      const x = Math.round(scale.x(tick)) + 0.5;
      context.beginPath();
      context.moveTo(x, 16);
      context.lineTo(x, 22);
      context.stroke();
      context.fillText(tickText(tick, step), x + 3, 10);
    }
  }

  placePhases(scale) {
    [...this.phases.children].forEach((button, index) => {
      const phase = this.launch.phases[index];
      const left = Math.max(0, scale.x(phase.start)), right = Math.min(scale.width, scale.x(phase.end));
      button.style.left = `${left}px`;
      button.style.width = `${Math.max(2, right - left)}px`;
      button.style.visibility = right < 0 || left > scale.width ? "hidden" : "visible";
      button.setAttribute("aria-pressed", String(this.state.isPhase(index)));
      button.setAttribute("aria-label", `${phase.name}, ${time(phase.wall)}`);
    });
  }

  placeOverlay(scale) {
    const offset = this.track.offsetLeft;
    const { span } = this.state;
    this.selected.hidden = span === null;
    if (span !== null) {
      const left = Math.max(0, scale.x(span[0])), right = Math.min(scale.width, scale.x(span[1]));
      this.selected.hidden = right < 0 || left > scale.width;
      this.selected.style.left = `${offset + left}px`;
      this.selected.style.width = `${Math.max(1, right - left)}px`;
    }
    const { ready } = this.launch;
    const x = ready === null ? -1 : scale.x(ready.time);
    this.ready.hidden = x < 0 || x > scale.width;
    this.ready.style.left = `${offset + x}px`;
    this.ready.title = ready === null ? "" : `ready after ${time(ready.time, 3)} (${ready.by})`;
  }

  // MARK: Moving

  /** Shows another part, within what there is. */
  show(from, to) {
    const { extent } = this;
    const length = Math.min(Math.max(to - from, Math.min(leastZoom, extent)), extent);
    const start = Math.min(Math.max(0, from), extent - length);
    this.state.change({ zoom: length >= extent ? null : [start, start + length] });
  }

  zoomBy(factor, centre = (this.view[0] + this.view[1]) / 2) {
    const [from, to] = this.view;
    this.show(centre - (centre - from) * factor, centre + (to - centre) * factor);
  }

  panBy(part) {
    const [from, to] = this.view;
    const step = (to - from) * part;
    const within = Math.min(Math.max(step, -from), this.extent - to);
    this.show(from + within, to + within);
  }

  listen(rulerTrack) {
    this.element.addEventListener("wheel", (event) => this.wheel(event), { passive: false });
    this.element.addEventListener("keydown", (event) => this.key(event));
    rulerTrack.addEventListener("pointerdown", (event) => this.pan(event, rulerTrack));
  }

  timeAt(event) {
    return this.scale.time(event.clientX - this.track.getBoundingClientRect().left);
  }

  wheel(event) {
    const isSideways = event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY);
    if (isSideways) {
      const distance = event.deltaX || event.deltaY;
      this.panBy(distance / this.scale.width);
    } else if (event.ctrlKey || event.metaKey || !this.list.contains(event.target)
      || this.list.scrollHeight <= this.list.clientHeight + 1) {
      this.zoomBy(Math.exp(Math.max(-200, Math.min(200, event.deltaY)) / 400), this.timeAt(event));
    } else {
      return;
    }
    event.preventDefault();
  }

  pan(event, rulerTrack) {
    rulerTrack.setPointerCapture(event.pointerId);
    let last = event.clientX;
    rulerTrack.onpointermove = (moved) => {
      this.panBy((last - moved.clientX) / this.scale.width);
      last = moved.clientX;
    };
    rulerTrack.onpointerup = () => { rulerTrack.onpointermove = null; };
  }

  /** A drag selects from one moment to another, a click what it hits. */
  select(lane) {
    lane.track.addEventListener("pointerdown", (event) => {
      if (event.button !== 0) return;
      const start = event.clientX, first = this.timeAt(event);
      const isDrag = (other) => Math.abs(other.clientX - start) > 3;
      lane.track.setPointerCapture(event.pointerId);
      lane.track.onpointermove = (moved) => {
        if (!isDrag(moved)) return;
        const ends = [first, this.timeAt(moved)].map((end) =>
          Math.min(Math.max(0, end), this.extent)).sort((a, b) => a - b);
        if (ends[0] < ends[1]) this.state.select({ range: ends });
      };
      lane.track.onpointerup = (ended) => {
        lane.track.onpointermove = lane.track.onpointerup = null;
        if (!isDrag(ended)) this.click(ended, lane);
      };
    });
  }

  click(event, lane) {
    const found = this.found(event, lane);
    if (found?.process !== undefined) this.open(found.process);
    if (found?.select) this.state.select(found.select);
    else if (lane.thread !== null && found) {
      this.state.select({ range: [found.start, found.end], thread: lane.thread });
    } else this.state.select({});
  }

  /** Shows a process's threads. */
  open(process) {
    const { opened } = this.state.values;
    const id = `process${process}`;
    if (!opened.includes(id)) this.state.change({ opened: [...opened, id] });
  }

  found(event, lane) {
    const bounds = lane.track.getBoundingClientRect();
    return lane.at(event.clientX - bounds.left, event.clientY - bounds.top, this.scale);
  }

  hover(event, lane) {
    const found = this.found(event, lane);
    tell(event, found === null ? null : found.lines.filter((text) => text !== null));
  }

  key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const step = event.shiftKey ? () => this.extend(event.key === "ArrowRight" ? 1 : -1)
      : () => this.panBy(event.key === "ArrowRight" ? 0.1 : -0.1);
    const actions = {
      ArrowRight: step, ArrowLeft: step,
      "+": () => this.zoomBy(0.7), "=": () => this.zoomBy(0.7), "-": () => this.zoomBy(1 / 0.7),
      "0": () => this.state.change({ zoom: null }),
      z: () => this.state.span !== null && this.show(...this.state.span),
      "]": () => this.nextPhase(1), "[": () => this.nextPhase(-1),
      Escape: () => this.state.select({ thread: null }),
    };
    if (!(event.key in actions)) return;
    event.preventDefault();
    actions[event.key]();
  }

  nextPhase(step) {
    const { phase } = this.state.values;
    const count = this.launch.phases.length;
    const next = phase === null ? (step > 0 ? 0 : count - 1) : phase + step;
    if (next >= 0 && next < count) this.state.select({ phase: next });
  }

  /** Makes the selected range longer or shorter at its end, from the middle of what is seen. */
  extend(direction) {
    const [from, to] = this.view;
    const range = this.state.span ?? [(from + to) / 2, (from + to) / 2];
    const end = Math.min(Math.max(range[0], range[1] + direction * (to - from) / 40), this.extent);
    if (end > range[0]) this.state.select({ range: [range[0], end] });
  }
}

/** 1, 2 or 5 of a power of ten, and no less than wanted. */
function niceStep(wanted) {
  const power = 10 ** Math.floor(Math.log10(Math.max(1, wanted)));
  return [1, 2, 5, 10].map((factor) => factor * power).find((step) => step >= wanted);
}

function tickText(tick, step) {
  const units = [[1e9, "s"], [1e6, "ms"], [1e3, "µs"], [1, "ns"]];
  const [size, unit] = units.find(([size]) => tick >= size) ?? [1e6, "ms"];
  const decimals = Math.max(0, Math.min(6, Math.ceil(Math.log10(size / step))));
  return `${(tick / size).toFixed(decimals)} ${unit}`;
}
