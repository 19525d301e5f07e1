// The table of topics, and the plots of their rates and losses.

const WINDOW = 60, RATE_SPAN = 2;

class Topics {
  constructor() {
    this.table = byId("topics");
    this.rows = new Map();
    this.history = new Map();
    this.losses = [];
    this.sort = { key: "name", down: false };
    this.ratePlot = new Plot(byId("rate-plot"));
    this.lossPlot = new Plot(byId("loss-plot"));
    this.filter = byId("filter");
    this.filter.addEventListener("input", () => this.arrange());
    for (const button of this.table.querySelectorAll("th button")) {
      button.addEventListener("click", () => this.sortBy(button));
    }
  }

  sortBy(button) {
    const key = button.dataset.sort;
    this.sort = { key, down: this.sort.key === key ? !this.sort.down : !["name", "type"].includes(key) };
    for (const head of this.table.querySelectorAll("th")) head.removeAttribute("aria-sort");
    button.closest("th").setAttribute("aria-sort", this.sort.down ? "descending" : "ascending");
    this.arrange();
  }

  /** Takes the topics of a snapshot; `now` is seconds of the browser's own clock. */
  take(topics, now, kind) {
    this.kind = kind;
    this.list = topics.map((topic) => this.measured(topic, now));
    const known = new Set(topics.map((topic) => topic.name));
    for (const name of [...this.rows.keys()]) if (!known.has(name)) { this.rows.get(name).remove(); this.rows.delete(name); }
    const lost = (key) => topics.reduce((sum, topic) => sum + (topic[key] ?? 0), 0);
    this.losses.push([now, lost("lostWire"), lost("lostRecorder")]);
    while (this.losses[0][0] < now - WINDOW - 5) this.losses.shift();
    this.now = now;
    this.arrange();
    this.drawRates();
    this.drawLosses();
  }

  /** A topic with its rates over the last two seconds, as this browser sees them. */
  measured(topic, now) {
    const history = this.history.get(topic.name) ?? { samples: [], rates: [] };
    this.history.set(topic.name, history);
    const { samples, rates } = history;
    if (samples.length && samples.at(-1).count > topic.count) samples.length = 0;
    samples.push({ now, count: topic.count, bytes: topic.bytes });
    while (samples.length > 2 && samples[1].now <= now - RATE_SPAN) samples.shift();
    const first = samples[0], span = now - first.now;
    // A rate needs at least a second of data.
    const per = (key) => (span > 0.9 ? (topic[key] - first[key]) / span : 0);
    const hz = topic.hz ?? per("count");
    if (topic.hz !== undefined || span > 0.9) rates.push([now, hz]);
    while (rates.length && rates[0][0] < now - WINDOW - 5) rates.shift();
    return { ...topic, hz, bandwidth: per("bytes") };
  }

  arrange() {
    if (!this.list) return;
    const { key, down } = this.sort, word = this.filter.value.trim().toLowerCase();
    const value = (topic) => topic[key] ?? (typeof topic[key] === "number" ? 0 : -1);
    this.list.sort((a, b) => {
      const [x, y] = [value(a), value(b)];
      const order = typeof x === "string" && typeof y === "string" ? x.localeCompare(y) : x - y;
      return (down ? -order : order) || a.name.localeCompare(b.name);
    });
    for (const key of ["recorded", "lostWire", "lostRecorder"]) {
      this.table.classList.toggle(`no-${key}`, this.list.every((topic) => topic[key] === undefined));
    }
    const body = this.table.tBodies[0];
    this.list.forEach((topic, index) => {
      const row = this.rows.get(topic.name) ?? this.newRow(topic);
      this.fill(row, topic);
      row.hidden = word !== "" && !`${topic.name} ${topic.type}`.toLowerCase().includes(word);
      if (body.rows[index] !== row) body.insertBefore(row, body.rows[index] ?? null);
    });
    const bytes = this.list.reduce((sum, topic) => sum + topic.bandwidth, 0);
    byId("topics-sum").textContent = `${this.list.length} topics · ${bytesText(bytes)}/s`;
  }

  newRow(topic) {
    const row = make("tr", {}, make("td", { className: "name" }, make("i"), make("span")), make("td", { className: "dim" }));
    for (let column = 0; column < 6; column += 1) row.append(make("td", { className: "number" }));
    this.rows.set(topic.name, row);
    return row;
  }

  fill(row, topic) {
    const [name, type, hz, bandwidth, count, recorded, wire, recorder] = row.cells;
    const set = (cell, text) => { if (cell.textContent !== text) cell.textContent = text; };
    set(name.lastChild, topic.name);
    const color = this.colors?.get(topic.name) ?? "";
    if (name.firstChild.style.background !== color) name.firstChild.style.background = color;
    set(type, topic.type);
    set(hz, rateText(topic.hz));
    set(bandwidth, bytesText(topic.bandwidth));
    set(count, countText(topic.count));
    set(recorded, countText(topic.recorded));
    for (const [cell, lost] of [[wire, topic.lostWire], [recorder, topic.lostRecorder]]) {
      set(cell, countText(lost));
      cell.className = lost > 0 ? "number lost" : lost === undefined ? "number none" : "number";
    }
  }

  /** The eight busiest topics keep their colours for as long as they stay among them. */
  drawRates() {
    const peak = (name) => Math.max(0, ...this.history.get(name).rates.map((point) => point[1]));
    const names = this.list.map((topic) => topic.name).sort((a, b) => peak(b) - peak(a) || a.localeCompare(b)).slice(0, PALETTE);
    this.slots ??= new Map();
    for (const name of [...this.slots.keys()]) if (!names.includes(name)) this.slots.delete(name);
    for (const name of names) {
      if (this.slots.has(name)) continue;
      const used = new Set(this.slots.values());
      this.slots.set(name, [...Array(PALETTE).keys()].find((slot) => !used.has(slot)));
    }
    this.colors = new Map([...this.slots].map(([name, slot]) => [name, colorOf(slot)]));
    const lines = names.map((name) => ({ points: this.history.get(name).rates, color: this.colors.get(name), fill: names.length < 3 }));
    this.ratePlot.draw(lines.map((line) => this.shifted(line)), this.span());
    showLegend(byId("rate-legend"), names.map((name) => [name, this.colors.get(name)]));
  }

  /** A line on an axis that ends now. */
  shifted(line) {
    return { ...line, points: line.points.map(([time, value]) => [time - this.now, value]) };
  }

  /** The last minute, or what there is of it. */
  span() {
    const seconds = Math.min(Math.max(this.now - this.losses[0][0], 10), WINDOW);
    return { from: -seconds, to: 0, xText: (value) => (Math.abs(value) < 1e-6 ? "now" : `${axisText(value)} s`) };
  }

  drawLosses() {
    const known = this.list.filter((topic) => topic.lostWire !== undefined || topic.lostRecorder !== undefined);
    const total = (key) => known.reduce((sum, topic) => sum + (topic[key] ?? 0), 0);
    const [wire, recorder] = ["lostWire", "lostRecorder"].map(total);
    // The losses of a bag are known from the start and shown by topic; those of a robot are shown as they arrive.
    const bag = this.kind === "player", none = known.length === 0;
    byId("loss-sum").textContent = none ? "" : this.lossText(known.reduce((sum, topic) => sum + (topic.recorded ?? topic.count), 0), wire, recorder);
    byId("loss-plot").hidden = bag || none;
    byId("loss-bars").hidden = !bag || wire + recorder === 0;
    byId("loss-empty").hidden = !(none || (bag && wire + recorder === 0));
    byId("loss-empty").firstChild.textContent = none
      ? "There is no account of losses here: the bag was not recorded with one."
      : "Nothing was lost: every message that was published is in the bag.";
    byId("loss-empty").firstChild.className = none ? "" : "good";
    if (bag && !none) this.drawBars(known);
    else if (!none) this.drawLossPlot();
    const legend = none || (bag && wire + recorder === 0) ? [] : [[`lost in transport: ${countText(wire)}`, colorOf(2)]];
    if (legend.length && known.some((topic) => topic.lostRecorder !== undefined)) legend.push([`lost in the recorder: ${countText(recorder)}`, colorOf(4)]);
    if (legend.length && bag) legend.push([`a full bar is ${axisText(100 * this.barScale(known))} %`, styleOf("--line")]);
    showLegend(byId("loss-legend"), legend);
  }

  /** For a robot, the view itself received the messages that a recorder lost. */
  lossText(here, wire, recorder) {
    const live = this.kind === "graph", word = live ? "received" : "recorded";
    const lost = live ? wire : wire + recorder;
    return `${countText(here + lost)} published = ${countText(here)} ${word} + ${countText(lost)} lost`;
  }

  drawLossPlot() {
    const lines = [
      { points: this.losses.map(([time, lost]) => [time, lost]), color: colorOf(2), fill: true },
      { points: this.losses.map(([time, , lost]) => [time, lost]), color: colorOf(4), fill: true },
    ];
    this.lossPlot.draw(lines.map((line) => this.shifted(line)), this.span());
  }

  /** The loss ratio of a full bar, rounded up. */
  barScale(known) {
    const lost = (topic) => (topic.lostWire ?? 0) + (topic.lostRecorder ?? 0);
    const most = Math.max(...known.map((topic) => lost(topic) / Math.max(lost(topic) + (topic.recorded ?? 0), 1)), 0);
    return [0.001, 0.01, 0.02, 0.05, 0.1, 0.25, 0.5, 1].find((share) => share >= most) ?? 1;
  }

  /** The topics with the highest loss ratios, in transport and in the recorder. */
  drawBars(known) {
    const lost = (topic) => (topic.lostWire ?? 0) + (topic.lostRecorder ?? 0);
    const share = (topic) => lost(topic) / Math.max(lost(topic) + (topic.recorded ?? 0), 1);
    const worst = known.filter((topic) => lost(topic) > 0).sort((a, b) => share(b) - share(a) || a.name.localeCompare(b.name)).slice(0, PALETTE);
    const theme = document.documentElement.dataset.theme;
    const key = `${theme} ${worst.map((topic) => `${topic.name} ${lost(topic)}`).join()}`;
    if (this.barsKey === key) return;
    this.barsKey = key;
    const most = this.barScale(known);
    byId("loss-bars").replaceChildren(...worst.flatMap((topic) => {
      const bar = make("span", { className: "bar" });
      for (const [count, color] of [[topic.lostWire ?? 0, colorOf(2)], [topic.lostRecorder ?? 0, colorOf(4)]]) {
        if (count === 0) continue;
        const part = make("i");
        part.style.background = color;
        part.style.width = `${(100 * share(topic) * count) / lost(topic) / most}%`;
        bar.append(part);
      }
      const part = 100 * share(topic), text = `${countText(lost(topic))} of ${countText(lost(topic) + (topic.recorded ?? 0))} · ${part.toPrecision(2)} %`;
      return [make("b", { title: topic.name }, topic.name), bar, make("span", { className: "dim" }, text)];
    }));
  }
}
