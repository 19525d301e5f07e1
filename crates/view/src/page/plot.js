// A line plot on a canvas: series of [x, y], with x in seconds or milliseconds.

const PALETTE = 8;
const styleOf = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
const colorOf = (index) => styleOf(`--c${index % PALETTE}`);

/** Makes a canvas as sharp as the screen; its size in CSS pixels. */
function fitCanvas(canvas) {
  const ratio = window.devicePixelRatio || 1;
  const width = canvas.clientWidth, height = canvas.clientHeight;
  if (canvas.width !== Math.round(width * ratio) || canvas.height !== Math.round(height * ratio)) {
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(height * ratio);
  }
  const context = canvas.getContext("2d");
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.clearRect(0, 0, width, height);
  context.font = "11px system-ui, sans-serif";
  return { context, width, height };
}

/** Round numbers that divide a range into about `count` parts. */
function ticks(low, high, count) {
  const raw = (high - low) / Math.max(count, 1);
  const power = 10 ** Math.floor(Math.log10(raw || 1));
  const step = [1, 2, 2.5, 5, 10].map((factor) => factor * power).find((size) => size >= raw) || power;
  const values = [];
  for (let value = Math.ceil(low / step - 1e-9) * step; value <= high + step * 1e-9; value += step) values.push(value);
  return values;
}

class Plot {
  constructor(canvas) {
    this.canvas = canvas;
    /** How many points the last drawing had; tests look at it. */
    this.points = 0;
  }

  /** Draws lines of {points, color, fill, gap}; options: from, to on x, zero to include 0, xText for its labels. */
  draw(series, { from, to, zero = true, xText = axisText }) {
    const { context, width, height } = fitCanvas(this.canvas);
    const left = 46, right = 8, top = 8, bottom = 20;
    const values = series.flatMap((line) => line.points.filter((point) => point[0] >= from).map((point) => point[1]));
    this.points = values.length;
    this.canvas.dataset.points = String(values.length);
    let low = values.length ? Math.min(...values) : 0, high = values.length ? Math.max(...values) : 1;
    if (zero) { low = Math.min(low, 0); high = Math.max(high, 0); }
    if (high - low < 1e-12) { high += Math.abs(high) * 0.1 || 1; if (!zero) low -= Math.abs(low) * 0.1 || 1; }
    const pad = (high - low) * 0.06;
    high += pad; if (low < 0 || !zero) low -= pad;
    const x = (time) => left + ((time - from) / Math.max(to - from, 1e-9)) * (width - left - right);
    const y = (value) => top + (1 - (value - low) / (high - low)) * (height - top - bottom);
    this.axes(context, { width, height, left, right, bottom, low, high, from, to, x, y, xText });
    context.save();
    context.beginPath();
    context.rect(left, 0, width - left - right, height - bottom + 1);
    context.clip();
    for (const line of series) this.line(context, line, x, y, Math.max(low, 0));
    context.restore();
  }

  axes(context, { width, height, left, right, bottom, low, high, from, to, x, y, xText }) {
    context.strokeStyle = styleOf("--line");
    context.fillStyle = styleOf("--dim");
    context.lineWidth = 1;
    context.textBaseline = "middle";
    context.textAlign = "right";
    for (const value of ticks(low, high, 4)) {
      const at = Math.round(y(value)) + 0.5;
      context.beginPath(); context.moveTo(left, at); context.lineTo(width - right, at); context.stroke();
      context.fillText(axisText(value), left - 7, at);
    }
    context.textBaseline = "alphabetic";
    for (const value of ticks(from, to, 6)) {
      const text = xText(value), half = context.measureText(text).width / 2;
      const at = Math.min(Math.max(x(value), left + half), width - right - half);
      context.textAlign = "center";
      context.fillText(text, at, height - bottom + 15);
    }
  }

  /** A line, interrupted where points are more than `gap` apart. */
  line(context, { points, color, fill, gap = Infinity }, x, y, floor) {
    if (!points.length) return;
    context.beginPath();
    points.forEach(([time, value], index) => {
      const joined = index > 0 && time - points[index - 1][0] <= gap;
      if (joined) context.lineTo(x(time), y(value)); else context.moveTo(x(time), y(value));
    });
    context.strokeStyle = color;
    context.lineWidth = 1.8;
    context.lineJoin = "round";
    context.stroke();
    if (points.length === 1) { context.fillStyle = color; context.fillRect(x(points[0][0]) - 2, y(points[0][1]) - 2, 4, 4); }
    if (!fill) return;
    context.lineTo(x(points.at(-1)[0]), y(floor));
    context.lineTo(x(points[0][0]), y(floor));
    context.globalAlpha = 0.12;
    context.fillStyle = color;
    context.fill();
    context.globalAlpha = 1;
  }
}

/** The gap that interrupts a line: several times the usual interval. */
function usualGap(points) {
  const steps = points.slice(1).map((point, index) => point[0] - points[index][0]).sort((a, b) => a - b);
  return steps.length ? steps[Math.floor(steps.length / 2)] * 5 : Infinity;
}

/** Names with the colours of their lines. */
function showLegend(element, entries) {
  const key = entries.map((entry) => entry.join("\u0000")).join("\u0001");
  if (element.dataset.key === key) return;
  element.dataset.key = key;
  element.replaceChildren(...entries.map(([name, color]) => {
    const dot = make("i");
    dot.style.background = color;
    return make("span", {}, dot, name);
  }));
}
