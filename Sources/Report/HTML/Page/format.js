// Numbers as people read them; as the text report writes them.

/** Nanoseconds with three or four figures: "< 1 µs", "45 µs", "1.2 ms", "372.4 ms", "2.13 s". */
export function time(nanoseconds, secondsDecimals = 2) {
  const sign = nanoseconds < 0 ? "-" : "";
  const size = Math.abs(nanoseconds);
  if (size >= 1 && size < 500) return "< 1 µs";
  if (size < 1) return "0.0 ms";
  if (size < 99_500) return sign + Math.round(size / 1e3) + " µs";
  if (size < 999_950_000) return sign + (Math.round(size / 1e5) / 10).toFixed(1) + " ms";
  const scale = 10 ** secondsDecimals;
  return sign + (Math.round(size / 1e9 * scale) / scale).toFixed(secondsDecimals) + " s";
}

/** In a table nothing is better seen as nothing. */
export function timeCell(nanoseconds) {
  return nanoseconds > 0 ? time(nanoseconds) : "–";
}

/** A change: "+1.2 ms", "-0.38 s", "–" for none. What rounds to nothing has no direction. */
export function change(nanoseconds) {
  if (nanoseconds === 0) return "–";
  return (nanoseconds >= 500 ? "+" : "") + time(nanoseconds);
}

/** A share too small to be shown is "< 0.1 %" rather than none. */
export function percent(part, whole) {
  if (!(whole > 0) || !(part > 0)) return "0.0 %";
  const tenths = Math.round(part / whole * 1000);
  return tenths === 0 ? "< 0.1 %" : (tenths / 10).toFixed(1) + " %";
}

export function bytes(count) {
  let value = count, unit = 0;
  const units = ["B", "KiB", "MiB", "GiB", "TiB"];
  while (value >= 1023.95 && unit < units.length - 1) { value /= 1024; unit += 1; }
  return unit === 0 ? `${value} B` : `${value.toFixed(1)} ${units[unit]}`;
}

/** The last component of a path. */
export function fileName(path) {
  return path.slice(path.lastIndexOf("/") + 1) || path;
}
