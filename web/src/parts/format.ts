// SPDX-License-Identifier: Apache-2.0
// Numbers and times as people read them.
const UNITS = ["B", "KiB", "MiB", "GiB", "TiB"];

/** 1536 -> "1.5 KiB". */
export function bytesText(bytes: number): string {
  let unit = 0;
  let value = bytes;
  while (value >= 1024 && unit < UNITS.length - 1) {
    value /= 1024;
    unit++;
  }
  return `${unit === 0 || value >= 100 ? Math.round(value) : value.toFixed(1)} ${UNITS[unit]}`;
}

/** 1.2 -> "1.2 ms", 61000 -> "1 min 1 s", 3600000 -> "1 h". */
export function durationText(ms: number): string {
  if (ms < 10) return `${ms.toFixed(1)} ms`;
  if (ms < 1000) return `${Math.round(ms)} ms`;
  if (ms < 60_000) return `${(ms / 1000).toFixed(1)} s`;
  const seconds = Math.round(ms / 1000);
  if (seconds < 3600) return twoUnits(seconds, "min", "s");
  const minutes = Math.round(seconds / 60);
  return minutes < 2880 ? twoUnits(minutes, "h", "min") : `${Math.round(minutes / 1440)} days`;
}

/** COUNT of SMALL, sixty of which are one LARGE; the rest is left out if it is zero. */
function twoUnits(count: number, large: string, small: string): string {
  return `${Math.floor(count / 60)} ${large}${count % 60 ? ` ${count % 60} ${small}` : ""}`;
}

/** "12:01:30" of today, otherwise with the day. */
export function timeText(time: string): string {
  const date = new Date(time);
  const clock = date.toLocaleTimeString([], { hour12: false });
  return date.toDateString() === new Date().toDateString() ? clock : `${date.toLocaleDateString()} ${clock}`;
}

/** [1000, 4] -> "1,000 × 4". */
export function shapeText(shape: number[]): string {
  return shape.map(numberText).join(" × ");
}

/** 1234567 -> "1,234,567" in the reader's language. */
export function numberText(value: number): string {
  return value.toLocaleString();
}

/** "memory_limit" -> "memory limit". */
export function spaced(name: string): string {
  return name.replace(/_/g, " ");
}

export function plural(count: number, one: string, many = `${one}s`): string {
  return `${numberText(count)} ${count === 1 ? one : many}`;
}
