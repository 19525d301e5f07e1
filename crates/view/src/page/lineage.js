// Lineage: the links between topics, drawn from left to right.

const SVG = "http://www.w3.org/2000/svg";

function shape(tag, attributes, ...children) {
  const element = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
}

/** The column of each topic: one more than the farthest of its inputs. Circles are cut where they close. */
function columns(edges) {
  const inputs = new Map();
  for (const { from, to } of edges) {
    if (!inputs.has(from)) inputs.set(from, []);
    if (!inputs.has(to)) inputs.set(to, []);
    inputs.get(to).push(from);
  }
  const depth = new Map(), open = new Set();
  const visit = (name) => {
    if (depth.has(name)) return depth.get(name);
    if (open.has(name)) return -1;
    open.add(name);
    const level = Math.max(-1, ...inputs.get(name).map(visit)) + 1;
    open.delete(name);
    depth.set(name, level);
    return level;
  };
  [...inputs.keys()].sort().forEach(visit);
  return { depth };
}

/** The names of each column, with a slot for every link that passes it, and the route of each link. */
function lanes(edges, depth) {
  const levels = [], routes = new Map();
  for (const [name, level] of depth) (levels[level] ??= []).push(name);
  for (const edge of edges) {
    const first = depth.get(edge.from), last = depth.get(edge.to), route = [{ level: first, name: edge.from }];
    for (let level = first + 1; level < last; level += 1) {
      const name = `${edge.from}>${edge.to}>${level}`;
      levels[level].push(name);
      route.push({ level, name });
    }
    route.push({ level: last, name: edge.to });
    routes.set(edge, route);
  }
  return { levels, routes };
}

/** The row of each name, around 0: near the rows that its links come from. */
function order(levels, routes) {
  const inputs = new Map(), row = new Map();
  for (const route of routes.values()) {
    for (let step = 1; step < route.length; step += 1) {
      if (!inputs.has(route[step].name)) inputs.set(route[step].name, []);
      inputs.get(route[step].name).push(route[step - 1].name);
    }
  }
  const weight = (name) => {
    const rows = (inputs.get(name) ?? []).map((input) => row.get(input)).filter((place) => place !== undefined);
    return rows.length ? rows.reduce((sum, place) => sum + place, 0) / rows.length : 0;
  };
  for (const names of levels) {
    names.sort((a, b) => weight(a) - weight(b) || a.localeCompare(b));
    names.forEach((name, index) => row.set(name, index - (names.length - 1) / 2));
  }
  return row;
}

class Lineage {
  take(edges) {
    const any = edges.length > 0;
    byId("lineage").hidden = !any;
    byId("lineage-empty").hidden = any;
    if (!any) return;
    const total = edges.reduce((sum, edge) => sum + edge.count, 0);
    byId("lineage-sum").textContent = `${edges.length} links · ${countText(total)} inputs seen`;
    const key = edges.map((edge) => `${edge.from}>${edge.to}`).join("|");
    if (key !== this.key) { this.key = key; this.draw(edges); }
    for (const edge of edges) {
      const label = this.labels.get(`${edge.from}>${edge.to}`);
      if (label) label.textContent = edge.latencyMs === null ? `${countText(edge.count)}×` : spanText(edge.latencyMs);
    }
  }

  draw(edges) {
    const { depth } = columns(edges);
    const { levels, routes } = lanes(edges, depth);
    const row = order(levels, routes);
    const high = 30, gapY = 20, gapX = 92;
    const wide = Math.max(...[...depth.keys()].map((name) => name.length)) * 7.2 + 22;
    const tall = Math.max(...levels.map((names) => names.length));
    const width = levels.length * wide + (levels.length - 1) * gapX + 4, height = tall * (high + gapY);
    const place = (level, name) => [2 + level * (wide + gapX), height / 2 + row.get(name) * (high + gapY)];
    const svg = shape("svg", { width, height, viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": `Lineage of ${depth.size} topics` });
    svg.append(shape("defs", {}, shape("marker", { id: "arrow", viewBox: "0 0 8 8", refX: 8, refY: 4, markerWidth: 7, markerHeight: 7, orient: "auto" }, shape("path", { d: "M0 0 8 4 0 8z" }))));
    this.labels = new Map();
    for (const [edge, route] of routes) svg.append(...this.edge(edge, route, place, wide));
    for (const [name, level] of depth) {
      const [x, y] = place(level, name);
      svg.append(shape("rect", { x, y: y - high / 2, width: wide, height: high, rx: 8 }),
        shape("text", { x: x + wide / 2, y: y + 4, "text-anchor": "middle" }, name));
    }
    byId("lineage").replaceChildren(svg);
  }

  /** A link through its places: straight past the columns between, bent from one to the next. */
  edge({ from, to, node }, route, place, wide) {
    const places = route.map(({ level, name }) => place(level, name));
    let path = `M${places[0][0] + wide} ${places[0][1]}`;
    for (let step = 1; step < places.length; step += 1) {
      const [x1, y1] = places[step - 1], [x2, y2] = places[step], begin = x1 + wide, middle = (begin + x2) / 2;
      path += `C${middle} ${y1} ${middle} ${y2} ${x2} ${y2}`;
      if (step < places.length - 1) path += `H${x2 + wide}`;
    }
    const line = shape("path", { d: path, "marker-end": "url(#arrow)" }, shape("title", {}, `${from} → ${to}${node ? ` in ${node}` : ""}`));
    const [x1, y1] = places[0], [x2, y2] = places[1];
    const label = shape("text", { x: (x1 + wide + x2) / 2, y: (y1 + y2) / 2 - 6, "text-anchor": "middle", class: "dim" });
    this.labels.set(`${from}>${to}`, label);
    return [line, label];
  }
}
