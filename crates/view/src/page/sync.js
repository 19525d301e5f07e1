// Clock sync: offsets, drifts and bounds from diagnostics.

class Sync {
  constructor() {
    this.plot = new Plot(byId("sync-plot"));
    this.choice = byId("sync-key");
    this.choice.addEventListener("change", () => this.draw());
  }

  take(sensors) {
    this.sensors = sensors;
    const keys = [...new Set(Object.values(sensors).flatMap((series) => Object.keys(series)))].sort();
    const any = keys.length > 0;
    byId("sync-empty").hidden = any;
    byId("sync-plot").hidden = this.choice.hidden = !any;
    if (!any) return;
    if (this.choice.dataset.keys !== keys.join("\n")) {
      const before = this.choice.value;
      this.choice.dataset.keys = keys.join("\n");
      this.choice.replaceChildren(...keys.map((key) => make("option", { value: key }, key)));
      this.choice.value = keys.includes(before) ? before : keys.find((key) => /offset/i.test(key)) ?? keys[0];
    }
    this.draw();
  }

  draw() {
    const key = this.choice.value, names = Object.keys(this.sensors).filter((name) => this.sensors[name][key]);
    const lines = names.map((name, index) => {
      const points = this.sensors[name][key], base = this.base(points);
      return { points: points.map(([time, value]) => [time, value - base]), base, color: colorOf(index), gap: usualGap(points) };
    });
    const times = lines.flatMap((line) => [line.points[0][0], line.points.at(-1)[0]]);
    const from = Math.min(...times), to = Math.max(...times, from + 1);
    this.plot.draw(lines, { from, to, zero: false, xText: (value) => `${((value - from) / 1000).toFixed(0)} s` });
    const last = (line) => (line.base ? `${line.base} + ${axisText(line.points.at(-1)[1])}` : axisText(line.points.at(-1)[1]));
    showLegend(byId("sync-legend"), names.map((name, index) => [`${name}: ${last(lines[index])}`, colorOf(index)]));
  }

  /** The base that is subtracted from large, nearly constant numbers such as an offset since 1970, to show the change. */
  base(points) {
    const values = points.map((point) => point[1]), low = Math.min(...values), high = Math.max(...values);
    return Math.abs(low) > 1000 && Math.abs(low) > 100 * (high - low) ? Math.round(low) : 0;
  }
}
