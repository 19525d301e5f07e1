// Formats of numbers and times.

const byId = (id) => document.getElementById(id);

/** Creates an element from tag, properties and children. It never parses markup, so that names cannot inject any. */
function make(tag, properties, ...children) {
  const element = Object.assign(document.createElement(tag), properties);
  element.append(...children);
  return element;
}

/** Seconds as 1:02:03.456. */
function clockText(seconds) {
  const sign = seconds < 0 ? "-" : "";
  const total = Math.round(Math.abs(seconds) * 1000);
  const hours = Math.floor(total / 3600000), minutes = Math.floor(total / 60000) % 60;
  const rest = ((total % 60000) / 1000).toFixed(3).padStart(6, "0");
  return hours ? `${sign}${hours}:${String(minutes).padStart(2, "0")}:${rest}` : `${sign}${minutes}:${rest}`;
}

/** Parses a typed time: seconds, minutes:seconds or hours:minutes:seconds; null if it is invalid. */
function parseClock(text) {
  const parts = text.trim().split(":");
  if (parts.length > 3 || parts.some((part) => !/^\d+(\.\d+)?$/.test(part))) return null;
  return parts.reduce((sum, part) => sum * 60 + Number(part), 0);
}

/** The time of day at so many seconds after a start in nanoseconds. */
function absoluteText(startNs, seconds) {
  const milliseconds = Number(BigInt(startNs) / 1000000n) + seconds * 1000;
  const date = new Date(milliseconds);
  if (Number.isNaN(date.getTime())) return "";
  return date.toISOString().replace("T", " ").replace("Z", " UTC");
}

function countText(count) {
  return count === undefined || count === null ? "–" : count.toLocaleString("en-US").replaceAll(",", " ");
}

/** Milliseconds as a duration of three digits, the same text as `timeloom trace report` has. */
function spanText(milliseconds) {
  const nanos = Math.round(milliseconds * 1e6);
  if (nanos < 1e3) return `${nanos} ns`;
  const [value, unit] = nanos < 1e6 ? [nanos / 1e3, "µs"] : nanos < 1e9 ? [nanos / 1e6, "ms"] : [nanos / 1e9, "s"];
  return `${value.toFixed(value < 10 ? 2 : value < 100 ? 1 : 0)} ${unit}`;
}

function bytesText(bytes) {
  const units = ["B", "kB", "MB", "GB", "TB"];
  let step = 0;
  while (bytes >= 999.5 && step < units.length - 1) { bytes /= 1000; step += 1; }
  return `${bytes.toFixed(step === 0 || bytes >= 100 ? 0 : bytes >= 10 ? 1 : 2)} ${units[step]}`;
}

function rateText(hz) {
  return hz >= 100 ? hz.toFixed(0) : hz >= 10 ? hz.toFixed(1) : hz.toFixed(2);
}

/** A number for an axis. */
function axisText(value) {
  const size = Math.abs(value);
  if (size !== 0 && (size < 0.001 || size >= 1e6)) return value.toExponential(1);
  return String(Number(value.toPrecision(6)));
}
