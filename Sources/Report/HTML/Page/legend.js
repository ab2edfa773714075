// What colours and gestures of timelines mean.
import { make } from "./dom.js";
import { states } from "./launch.js";

export const gestures = "drag: select · wheel or Ctrl+wheel: zoom · Shift+wheel, drag on the ruler: pan"
  + " · keys: ← → + − 0 z [ ] Esc /";

export function legend(hint) {
  return make("p.legend", {}, ...states.map((name) =>
    make("span", {}, make(`i.swatch.${name}`, { "aria-hidden": "true" }), name)),
  make("span.hint", {}, hint));
}
