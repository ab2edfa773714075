// Places in the source, and the lines themselves where the page carries them.
import { make } from "./dom.js";
import { fileName } from "./format.js";

/** "catalogue.cpp:21", with the whole path as its tip; null without one. */
export function placeOf(launch, frame) {
  const file = launch.frames.file[frame], line = launch.frames.line[frame];
  if (file < 0) return null;
  const path = launch.files[file];
  const text = line > 0 ? `${fileName(path)}:${line}` : fileName(path);
  return make("span.place", { title: line > 0 ? `${path}:${line}` : path }, text);
}

/** The frame's line of source; null if the page does not carry it. */
export function sourceLine(launch, frame) {
  const file = launch.frames.file[frame];
  const text = file < 0 ? undefined
    : launch.source[launch.files[file]]?.[launch.frames.line[frame]];
  return text === undefined ? null : make("code.source", {}, text.trim());
}

/** What stands around the frame's line; null if the page does not carry it. */
export function sourceExcerpt(launch, frame) {
  const file = launch.frames.file[frame], line = launch.frames.line[frame];
  const lines = file < 0 ? undefined : launch.source[launch.files[file]];
  if (lines === undefined || lines[line] === undefined) return null;
  const shown = [];
  for (let number = line - 4; number <= line + 4; number += 1) {
    if (lines[number] === undefined) continue;
    const kind = number === line ? "div.line.current" : "div.line";
    shown.push(make(kind, {}, make("span.number", {}, String(number)), make("code", {}, lines[number])));
  }
  return make("div.excerpt", { "aria-label": "source" }, ...shown);
}

/** A function's name with its module; own code stands out. */
export function functionName(launch, callee, frame = -1) {
  const isOwn = launch.functions.own[callee] === 1;
  const isInlined = frame >= 0 && launch.frames.inlined[frame] === 1;
  const module = launch.functions.module[callee];
  return make("span.function", {},
    make(isOwn ? "span.name.own" : "span.name", { title: launch.functions.name[callee] },
      launch.functions.short[callee]),
    isInlined ? make("span.module", {}, "inlined") : null,
    module === "[unknown]" ? null : make("span.module", {}, module));
}
