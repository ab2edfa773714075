// The heaviest stack of what is selected, outermost first.
import { make } from "./dom.js";
import { percent, time } from "./format.js";
import { heaviest } from "./forest.js";
import { functionName, placeOf, sourceLine } from "./source.js";

/** A list of frames with their shares of the whole. */
export function heaviestView(context) {
  const { launch, forest, whole } = context;
  const path = heaviest(forest);
  if (path.length === 0) return make("p.empty", {}, context.nothing);
  const items = path.map((branch) => make("li", { "data-function": branch.function },
    make("span.time", {}, time(branch.total)),
    make("span.share", {}, percent(branch.total, whole)),
    make("span.where", {}, functionName(launch, branch.function, branch.frame), " ",
      placeOf(launch, branch.frame)),
    sourceLine(launch, branch.frame)));
  const last = path[path.length - 1];
  const covers = "From the outermost function on, always the heaviest callee; "
    + `${percent(last.total, whole)} of the selected time reaches the last one.`;
  return make("section.heaviest", {}, make("p.caption", {}, covers), make("ol.stack", {}, ...items));
}
