// What is looked at. The address keeps it, so that a view can be handed on.

/** Named values, and who wants to know when they change. */
export class Values {
  constructor(initial, values) {
    this.initial = initial;
    this.values = { ...initial, ...values };
    this.listeners = [];
    this.keeping = null;
  }

  listen(listener) { this.listeners.push(listener); }

  change(values) {
    this.values = { ...this.values, ...values };
    this.keep();
    for (const listener of this.listeners) listener(Object.keys(values));
  }

  /** In the address, a moment later: browsers refuse who changes it at every turn of a wheel. */
  keep() {
    this.keeping ??= setTimeout(() => {
      this.keeping = null;
      // A page from the disk may always change what stands behind its `#`.
      history.replaceState(null, "", `#${this.written}`);
    }, 250);
  }

  /** Only what differs from the beginning. */
  get written() {
    const parameters = new URLSearchParams();
    for (const [name, value] of Object.entries(this.values)) {
      if (JSON.stringify(value) === JSON.stringify(this.initial[name])) continue;
      const isRange = Array.isArray(value) && typeof value[0] === "number";
      parameters.set(name, isRange ? value.map(Math.round).join("-") : String(value));
    }
    return parameters.toString();
  }
}

/** Anything that makes no sense is left out: addresses are written by anybody. */
export function readValues(text, meaning) {
  const values = {};
  for (const [name, value] of new URLSearchParams(text.replace(/^#/, ""))) {
    const found = meaning(name, value);
    if (found !== undefined) values[name] = found;
  }
  return values;
}

export function position(text, count) {
  const number = /^[0-9]+$/.test(text) ? Number(text) : NaN;
  return number < count ? number : undefined;
}

/** From when to when, in nanoseconds. */
export function readRange(text, wall) {
  const parts = /^([0-9]{1,15})-([0-9]{1,15})$/.exec(text);
  if (parts === null) return undefined;
  const [from, to] = [Number(parts[1]), Math.min(Number(parts[2]), wall)];
  return from < to ? [from, to] : undefined;
}
