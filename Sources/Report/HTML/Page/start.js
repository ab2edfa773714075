// A page's beginning: its data unpacked, and a word to those whose browser cannot.
import { make } from "./dom.js";

/** JSON from a gzip file in base64. */
async function unpack(text) {
  const binary = atob(text);
  // Loops, here and elsewhere: what takes a function for each element takes ten times as long.
  const bytes = new Uint8Array(binary.length);
  for (let i = 0; i < bytes.length; i += 1) bytes[i] = binary.charCodeAt(i);
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return JSON.parse(await new Response(stream).text());
}

/** `build(data)` makes the page; `subcommand` is what tells the same in text. */
export async function start(subcommand, build) {
  try {
    window.firstlight = build(await unpack(document.getElementById("data").textContent.trim()));
    // The first picture is whole, and the time below is that of a page that can be used.
    window.firstlight.paint();
    document.documentElement.dataset.ready = String(Math.round(performance.now()));
  } catch (error) {
    const text = `This page could not be shown (${error.message}). A newer browser may help: it `
      + `must know DecompressionStream. The same in text: firstlight ${subcommand}.`;
    document.getElementById("page").replaceChildren(make("p.note", {}, text));
  }
}
