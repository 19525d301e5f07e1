// The timeline: messages, losses and marks over time, the current time, the loop; a click seeks.

class Timeline {
  constructor(element, seek) {
    this.element = element;
    this.canvas = element.querySelector("canvas");
    this.tip = element.querySelector(".tip");
    this.seek = seek;
    this.data = null;
    this.dragging = false;
    this.canSeek = true;
    element.addEventListener("pointerdown", (event) => this.press(event));
    element.addEventListener("pointermove", (event) => this.move(event));
    element.addEventListener("pointerup", () => { this.dragging = false; });
    element.addEventListener("pointercancel", () => { this.dragging = false; });
    element.addEventListener("pointerleave", () => { this.tip.hidden = true; });
    new ResizeObserver(() => this.draw()).observe(element);
  }

  show(data) {
    this.data = data;
    this.element.setAttribute("aria-disabled", String(!data));
    if (data) {
      this.element.setAttribute("aria-valuemax", data.duration.toFixed(3));
      this.element.setAttribute("aria-valuenow", data.now.toFixed(3));
      this.element.setAttribute("aria-valuetext", `${clockText(data.now)} of ${clockText(data.duration)}`);
    }
    this.draw();
  }

  /** Seconds at a place on the screen. */
  at(event) {
    const box = this.element.getBoundingClientRect();
    const part = Math.min(Math.max((event.clientX - box.left) / box.width, 0), 1);
    return part * this.data.duration;
  }

  press(event) {
    if (!this.data || !this.canSeek || event.button !== 0) return;
    this.dragging = true;
    this.element.setPointerCapture(event.pointerId);
    this.seek(this.at(event));
  }

  move(event) {
    if (!this.data) return;
    const seconds = this.at(event), box = this.element.getBoundingClientRect();
    this.tip.hidden = false;
    const lost = (this.data.losses ?? []).filter(([from, to]) => seconds >= from && seconds < to).reduce((sum, [, , count]) => sum + count, 0);
    const near = (4 / box.width) * this.data.duration;
    const marks = (this.data.marks ?? []).filter(({ from, to }) => seconds >= from - near && seconds <= to + near);
    const more = marks.length > 3 ? [`${marks.length - 3} more`] : [];
    const parts = [clockText(seconds), ...(lost ? [`${countText(lost)} lost`] : []), ...marks.slice(0, 3).map(({ text }) => text), ...more];
    this.tip.textContent = parts.join(" · ");
    this.tip.style.left = `${Math.min(Math.max(event.clientX - box.left, 34), box.width - 34)}px`;
    if (this.dragging) this.seek(seconds);
  }

  draw() {
    const { context, width, height } = fitCanvas(this.canvas);
    const base = height - 18;
    context.fillStyle = styleOf("--soft");
    context.beginPath(); context.roundRect(0, 0, width, base, 8); context.fill();
    if (!this.data) return;
    const { duration, now, density = [], losses = [], marks = [], markA, markB, readAhead } = this.data;
    const x = (seconds) => (duration > 0 ? (seconds / duration) * width : 0);
    context.save();
    context.beginPath(); context.roundRect(0, 0, width, base, 8); context.clip();
    if (readAhead !== undefined && readAhead > now) {
      context.globalAlpha = 0.14;
      context.fillStyle = styleOf("--accent");
      context.fillRect(x(now), 0, x(readAhead) - x(now), base);
      context.globalAlpha = 1;
    }
    this.bars(context, density, width, base, x(now));
    this.lost(context, losses, x);
    this.violations(context, marks, x, base);
    this.marks(context, markA, markB, x, base, duration);
    context.restore();
    this.labels(context, duration, x, width, height);
    const at = Math.min(Math.max(x(now), 1), width - 1);
    context.fillStyle = styleOf("--accent");
    context.fillRect(at - 1, 0, 2, base);
    context.beginPath(); context.arc(at, 5, 5, 0, Math.PI * 2); context.fill();
  }

  /** Message density: past in colour, future in grey. */
  bars(context, density, width, base, now) {
    const most = Math.max(...density, 1), step = width / Math.max(density.length, 1);
    density.forEach((count, index) => {
      const high = count ? Math.max((count / most) * (base - 16), 2) : 0;
      const left = index * step;
      context.globalAlpha = left < now ? 0.75 : 0.35;
      context.fillStyle = left < now ? styleOf("--accent") : styleOf("--c7");
      context.fillRect(left, base - high, Math.max(step - 1, 0.5), high);
    });
    context.globalAlpha = 1;
  }

  /** Losses: a strip along the top, stronger where more messages were lost. */
  lost(context, losses, x) {
    const most = Math.max(...losses.map(([, , count]) => count), 1);
    context.fillStyle = styleOf("--c2");
    for (const [from, to, count] of losses) {
      context.globalAlpha = 0.45 + 0.55 * (count / most);
      context.fillRect(x(from), 0, Math.max(x(to) - x(from), 2), 5);
    }
    context.globalAlpha = 1;
  }

  /** Where attention is needed: a line with a flag, a band where it lasts. */
  violations(context, marks, x, base) {
    context.fillStyle = styleOf("--c4");
    for (const { from, to } of marks) {
      const left = x(from), right = x(to);
      context.globalAlpha = 0.22;
      context.fillRect(left, 0, right - left, base);
      context.globalAlpha = 0.9;
      context.fillRect(left - 0.5, 0, 1.5, base);
      context.beginPath(); context.moveTo(left - 5, 0); context.lineTo(left + 5, 0); context.lineTo(left, 8); context.fill();
    }
    context.globalAlpha = 1;
  }

  marks(context, a, b, x, base, duration) {
    if (a === undefined && b === undefined) return;
    const from = x(a ?? 0), to = x(b ?? duration);
    context.fillStyle = styleOf("--c2");
    context.globalAlpha = 0.16;
    context.fillRect(from, 0, to - from, base);
    context.globalAlpha = 1;
    context.font = "600 11px system-ui, sans-serif";
    for (const [at, name, known] of [[from, "A", a], [to, "B", b]]) {
      if (known === undefined) continue;
      context.fillRect(at - 1, 0, 2, base);
      context.textAlign = name === "A" ? "left" : "right";
      context.fillText(name, at + (name === "A" ? 5 : -5), 13);
    }
  }

  labels(context, duration, x, width, height) {
    context.fillStyle = styleOf("--dim");
    context.font = "11px system-ui, sans-serif";
    for (const seconds of ticks(0, duration, Math.max(width / 110, 2))) {
      const text = clockText(seconds).replace(/\.000$/, ""), half = context.measureText(text).width / 2;
      context.textAlign = "center";
      context.fillText(text, Math.min(Math.max(x(seconds), half), width - half), height - 4);
    }
  }
}
