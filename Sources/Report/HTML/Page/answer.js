// What the summary says: what to look at, where the time went, and the path that most of it was spent on.
import { make } from "./dom.js";
import { findingsView, phasesView } from "./facts.js";
import { percent, time } from "./format.js";
import { heaviestView } from "./heaviest.js";
import { functionName, placeOf } from "./source.js";

/** Of the whole launch; of a part that is selected: its findings, and its heaviest stack. */
export function answerView(context) {
  const { launch, span, selection } = context;
  const { answer } = launch;
  const isWhole = span === null && selection.threads === null;
  const nothing = isWhole && launch.findings.length === 0;
  return make("section.answer", {},
    make("div", {}, make("h2", {}, "What to look at"),
      isWhole && answer.lead !== "" ? make("p", {}, answer.lead) : null,
      nothing ? make("p", {}, answer.composition) : findingsView(context)),
    make("div", {}, make("h2", {}, "Where the time went"), phasesView(context),
      isWhole && answer.path.length > 0 ? path(launch) : heaviestView(context),
      isWhole && answer.wait !== "" ? make("p.wait", {}, answer.wait) : null));
}

function path(launch) {
  const { answer } = launch;
  const items = answer.path.map(({ frame, total }) => {
    const callee = launch.frames.function[frame];
    return make("li", { "data-function": callee }, make("span.time", {}, time(total)),
      make("span.share", {}, percent(total, answer.whole)),
      make("span.where", {}, functionName(launch, callee, frame), " ", placeOf(launch, frame)));
  });
  return make("section.heaviest", {}, make("p.caption", {}, `${answer.caption}, ${answer.weight}`),
    make("ol.stack", {}, ...items));
}
