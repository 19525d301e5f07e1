// Snapshots to the page; buttons and keys to the server.

const RATES = [0.1, 0.25, 0.5, 1, 2, 4, 8];
const PLAY = "M7 4v16l13-8z", PAUSE = "M7 4h3v16H7zM15 4h3v16h-3z";

const ask = (op, more) => link.send({ op, ...more });
const timeline = new Timeline(byId("timeline"), (seconds) => ask("seek", { seconds }));
const topics = new Topics(), sync = new Sync(), lineage = new Lineage();
const notices = new Map();
let latest = null;

function showSnapshot(snapshot) {
  latest = snapshot;
  document.title = `${snapshot.title} – timeloom`;
  byId("title").textContent = snapshot.title;
  showState(snapshot.state);
  const clients = snapshot.server.clients - 1;
  const facts = [...snapshot.facts];
  if (clients > 0) facts.push({ name: "other clients", value: String(clients), level: "normal" });
  if (snapshot.server.dropped > 0) facts.push({ name: "dropped for slow clients", value: countText(snapshot.server.dropped), level: "warning" });
  byId("facts").replaceChildren(...facts.map((fact) =>
    make("li", { className: fact.level }, fact.name, make("b", {}, fact.value))));
  showTransport(snapshot);
  topics.take(snapshot.topics, performance.now() / 1000, snapshot.kind);
  sync.take(snapshot.sync);
  lineage.take(snapshot.lineage);
}

function showState(state) {
  const pill = byId("state");
  if (pill.textContent !== state) { pill.textContent = state; pill.dataset.state = state; }
}

function showTransport({ timeline: data, state, kind }) {
  byId("transport").hidden = !data;
  // A running robot has a timeline of its last minutes, and no controls.
  byId("controls").hidden = kind !== "player";
  timeline.canSeek = kind === "player";
  if (!data) return;
  if (kind !== "player") return timeline.show(data);
  const going = state === "playing" || state === "buffering";
  byId("play-shape").setAttribute("d", going ? PAUSE : PLAY);
  byId("play").setAttribute("aria-label", going ? "Pause" : "Play");
  for (const id of ["step-back", "step-forward"]) byId(id).disabled = going;
  byId("now").textContent = clockText(data.now);
  byId("duration").textContent = clockText(data.duration);
  byId("absolute").textContent = absoluteText(data.startNs, data.now);
  byId("real-rate").textContent = data.realRate !== undefined && going ? `actual ×${data.realRate.toFixed(2)}` : "";
  byId("clear-marks").disabled = data.markA === undefined && data.markB === undefined;
  showRate(data.rate);
  timeline.show(data);
}

function showRate(rate) {
  const select = byId("rate");
  if (document.activeElement === select || select.dataset.rate === String(rate)) return;
  select.dataset.rate = String(rate);
  const rates = [...new Set([...RATES, rate])].sort((a, b) => a - b);
  select.replaceChildren(...rates.map((value) => make("option", { value: String(value) }, `× ${value}`)));
  select.value = String(rate);
}

/** The next rate of the ladder, up or down. */
function changeRate(direction) {
  const rate = latest?.kind === "player" ? latest.timeline?.rate : undefined;
  if (rate === undefined) return;
  const next = direction > 0 ? RATES.find((value) => value > rate + 1e-9) : RATES.findLast((value) => value < rate - 1e-9);
  if (next !== undefined) ask("rate", { value: next });
}

function showNotice(text, id = "last") {
  if (text === null) notices.delete(id);
  else notices.set(id, text);
  const notice = byId("notice");
  notice.hidden = notices.size === 0;
  notice.textContent = [...notices.values()].join(" · ");
  if (id === "last" && text !== null) setTimeout(() => notices.get(id) === text && showNotice(null, id), 5000);
}

function setTheme(theme) {
  document.documentElement.dataset.theme = theme;
  try { localStorage.setItem("theme", theme); } catch { /* a browser that keeps nothing */ }
  timeline.draw();
}

function otherTheme() {
  setTheme(document.documentElement.dataset.theme === "dark" ? "light" : "dark");
}

const KEYS = {
  " ": () => ask("toggle"),
  ArrowRight: (event) => (event.shiftKey ? ask("seekBy", { seconds: 1 }) : ask("stepForward")),
  ArrowLeft: (event) => (event.shiftKey ? ask("seekBy", { seconds: -1 }) : ask("stepBack")),
  ArrowUp: () => changeRate(1),
  ArrowDown: () => changeRate(-1),
  "[": () => ask("markA"),
  "]": () => ask("markB"),
  "\\": () => ask("clearMarks"),
  Home: () => ask("seek", { seconds: 0 }),
  "/": () => byId("goto").focus(),
  "?": () => byId("help").showModal(),
  d: otherTheme,
};

function onKey(event) {
  const typing = event.target.matches("input, select, textarea") || byId("help").open;
  if (typing || event.ctrlKey || event.metaKey || event.altKey) return;
  // A focused button is pressed by space; it must not toggle as well.
  if (event.key === " " && event.target.matches("button")) return;
  const duration = latest?.kind === "player" ? latest.timeline?.duration : undefined;
  if (/^[0-9]$/.test(event.key) && duration !== undefined) ask("seek", { seconds: (duration * Number(event.key)) / 10 });
  else if (Object.hasOwn(KEYS, event.key)) KEYS[event.key](event);
  else return;
  event.preventDefault();
}

function goTo(event) {
  event.preventDefault();
  const seconds = parseClock(byId("goto").value);
  if (seconds === null) showNotice("type seconds, or minutes:seconds");
  else ask("seek", { seconds });
  byId("goto").value = "";
  byId("goto").blur();
}

const BUTTONS = {
  play: () => ask("toggle"),
  "to-start": () => ask("seek", { seconds: 0 }),
  "step-back": () => ask("stepBack"),
  "step-forward": () => ask("stepForward"),
  "mark-a": () => ask("markA"),
  "mark-b": () => ask("markB"),
  "clear-marks": () => ask("clearMarks"),
  theme: otherTheme,
  "help-button": () => byId("help").showModal(),
};
for (const [id, press] of Object.entries(BUTTONS)) {
  byId(id).addEventListener("click", (event) => {
    press();
    // After the mouse, space is play or pause again; after the keyboard the focus stays where it was.
    if (event.detail > 0) event.currentTarget.blur();
  });
}
byId("rate").addEventListener("change", (event) => { ask("rate", { value: Number(event.target.value) }); event.target.blur(); });
byId("goto-form").addEventListener("submit", goTo);
byId("address").textContent = `ws://${location.host}`;
document.addEventListener("keydown", onKey);

let theme = null;
try { theme = localStorage.getItem("theme"); } catch { /* a browser that keeps nothing */ }
setTheme(theme ?? (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light"));

const link = new Link(showSnapshot, showNotice, (open) => { if (!open) showState("disconnected"); });
