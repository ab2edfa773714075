// Elements from values. Names only ever become text nodes: nothing here takes markup.

/** `make("td.number", {title: "…"}, "text", child)`; listeners as `onclick`. */
export function make(kind, attributes = {}, ...children) {
  const [tag, ...classes] = kind.split(".");
  const element = document.createElement(tag);
  if (classes.length > 0) element.className = classes.join(" ");
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (value === true) element.setAttribute(name, "");
    else if (value !== false && value !== null && value !== undefined) {
      element.setAttribute(name, value);
    }
  }
  element.append(...children.filter((child) => child !== null && child !== undefined));
  return element;
}

/** Puts a canvas's size at so many points of the page, sharp on every screen. */
export function sized(canvas, width, height) {
  const scale = window.devicePixelRatio || 1;
  canvas.width = Math.max(1, Math.round(width * scale));
  canvas.height = Math.max(1, Math.round(height * scale));
  canvas.style.height = `${height}px`;
  const context = canvas.getContext("2d");
  context.setTransform(scale, 0, 0, scale, 0, 0);
  context.clearRect(0, 0, width, height);
  return context;
}

/** A colour of the style sheet. */
export function colour(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
}

/** What hovers beside the pointer: lines of text; none hides it. */
export function tell(event, lines) {
  const box = document.getElementById("tip");
  if (lines === null) { box.hidden = true; return; }
  box.replaceChildren(...lines.map((line) => make("div", {}, line)));
  box.hidden = false;
  const left = Math.min(event.clientX + 14, window.innerWidth - box.offsetWidth - 8);
  const below = event.clientY + 18;
  const isLow = below + box.offsetHeight > window.innerHeight;
  box.style.left = `${Math.max(4, left)}px`;
  box.style.top = `${isLow ? event.clientY - box.offsetHeight - 10 : below}px`;
}
