// The map of the topics: circles in one SVG, one stop of the tab key, arrow keys inside.

// Topics at `places` [x, y], drawn into `box`; returns a function that fades all of them but some.
function topicMap(box, places) {
  const circles = [];
  const root = svg("svg", {
    role: "listbox", tabindex: "0", "aria-label": "Map of the topics", "aria-orientation": "horizontal",
    onkeydown: moveByKey,
  });
  const rings = svg("g", { "aria-hidden": "true" });
  const discs = svg("g", { role: "presentation" });
  const names = svg("g", { "aria-hidden": "true", class: "names" });
  root.append(discs, rings, names);
  const ring = svg("circle", { class: "ring" });
  rings.append(ring);
  // Large ones first, so that small ones lie on top and can be reached.
  for (const k of order) {
    circles[k] = svg("circle", {
      id: `topic-${k}`, role: "option", class: "disc", ...colour(k),
      "aria-label": discLabel(k),
    });
    discs.append(circles[k]);
  }
  const tip = el("div", { class: "tip", hidden: true });
  box.append(root, tip);
  let layout = null;

  const topicAt = (event) => {
    const id = event.target.id || "";
    return id.startsWith("topic-") ? Number(id.slice(6)) : null;
  };
  root.addEventListener("click", (event) => {
    const k = topicAt(event);
    if (k !== null) choose(k);
  });
  root.addEventListener("pointermove", (event) => {
    const k = event.pointerType === "touch" ? null : topicAt(event);
    tip.hidden = k === null;
    if (k === null) return;
    tip.replaceChildren(el("b", {}, `Topic ${k}`), ` ${percent(topics[k].share)}`, el("br"), own(topicName(k)));
    const x = Math.min(Math.max(layout.x[k], 90), layout.width - 90);
    tip.style.left = `${x}px`;
    tip.style.top = `${layout.y[k] + layout.r[k] + 8}px`;
  });
  root.addEventListener("pointerleave", () => { tip.hidden = true; });

  const mark = (k) => {
    for (const disc of discs.querySelectorAll("[aria-selected]")) disc.removeAttribute("aria-selected");
    if (!circles[k]) return; // one that is hidden
    circles[k].setAttribute("aria-selected", "true");
    root.setAttribute("aria-activedescendant", `topic-${k}`);
    if (layout === null) return;
    put(ring, { cx: layout.x[k], cy: layout.y[k], r: layout.r[k] + 3 }, []);
    names.replaceChildren(...placeNames(layout, k));
  };
  const resize = () => {
    const width = box.clientWidth;
    const height = box.clientHeight;
    if (!width || !height || (layout && layout.width === width && layout.height === height)) return;
    layout = arrange(places, width, height);
    root.setAttribute("viewBox", `0 0 ${width} ${height}`);
    for (const k of order) put(circles[k], { cx: layout.x[k], cy: layout.y[k], r: layout.r[k] }, []);
    mark(chosen);
  };
  new ResizeObserver(resize).observe(box);
  resize();
  onChoice(mark);
  const follow = () => {
    for (const k of order) {
      circles[k].classList.toggle("off", isHidden(k) || headOf(k) !== k);
      circles[k].setAttribute("aria-label", discLabel(k));
    }
    mark(chosen);
  };
  onEdit(follow);
  if (entries().length) follow();
  // Fade all topics but some; none if `some` is null.
  return (some) => {
    const kept = some && new Set(some);
    for (const k of order) circles[k].classList.toggle("dim", Boolean(kept) && !kept.has(k));
  };
}

function discLabel(k) {
  return `Topic ${k}: ${isolated(topicName(k))}, ${percent(topics[k].share)} of the tokens`;
}

function moveByKey(event) {
  const steps = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1, PageDown: 10, PageUp: -10,
    Home: -Infinity, End: Infinity }[event.key];
  if (steps === undefined || event.altKey || event.ctrlKey || event.metaKey) return;
  event.preventDefault();
  choose(neighbour(steps));
}

// Places and radii in pixels. One scale for both axes: distances on the map are to be compared.
function arrange(places, width, height) {
  const side = Math.min(width, height);
  const largest = topics[order[0]].share || 1;
  // Discs fill an eighth of the map together, unless that would make the largest too large.
  const unit = Math.min(Math.sqrt((0.125 * width * height) / Math.PI), (0.11 * side) / Math.sqrt(largest));
  const r = topics.map((topic) => Math.max(unit * Math.sqrt(topic.share), 2));
  const margin = 16 + unit * Math.sqrt(largest);
  const range = (values) => [Math.min(...values), Math.max(...values)];
  const [left, right] = range(order.map((k) => places[k][0]));
  const [low, high] = range(order.map((k) => places[k][1]));
  const scale = Math.min((width - 2 * margin) / (right - left || 1), (height - 2 * margin) / (high - low || 1));
  const x = places.map(([across]) => width / 2 + (across - (left + right) / 2) * scale);
  const y = places.map(([, up]) => height / 2 - (up - (low + high) / 2) * scale);
  return { width, height, x, y, r };
}

// Names of topics where there is room: the chosen one first, then from the largest; none overlaps another.
function placeNames(layout, selected) {
  const taken = [];
  const out = [];
  const free = (box) => box.left >= 2 && box.right <= layout.width - 2 && box.top >= 2
    && box.bottom <= layout.height - 2
    && taken.every((other) => box.right < other.left || box.left > other.right
      || box.bottom < other.top || box.top > other.bottom);
  const some = [selected, ...order.filter((k) => k !== selected)].slice(0, topics.length > 200 ? 60 : 120);
  // First where they hide nothing; then, of those that found no such place, across the edges of other discs.
  const waiting = [];
  for (const k of some) if (!placeName(k, HIDES)) waiting.push(k);
  for (const k of waiting) placeName(k, k === selected ? 0 : HIDES_MIDDLE);
  return out;

  function placeName(k, hides) {
    const word = topicName(k, 1);
    const shown = `${k} ${isolated(word.length > 16 ? `${word.slice(0, 15)}…` : word)}`;
    const wide = textWidth(shown, k === selected) + 4;
    const [x, y, r] = [layout.x[k], layout.y[k], layout.r[k]];
    const gap = r + (k === selected ? 7 : 5);
    const aside = 0.7 * gap;
    const places = [
      { left: x + gap, top: y - 8, anchor: "start", at: x + gap },
      { left: x - gap - wide, top: y - 8, anchor: "end", at: x - gap },
      { left: x - wide / 2, top: y - gap - 15, anchor: "middle", at: x },
      { left: x - wide / 2, top: y + gap, anchor: "middle", at: x },
      ...[-aside - 14, aside].flatMap((up) => [
        { left: x + aside, top: y + up, anchor: "start", at: x + aside },
        { left: x - aside - wide, top: y + up, anchor: "end", at: x - aside }]),
      { left: x - wide / 2, top: y - 8, anchor: "middle", at: x },
    ];
    const place = places.find((one) => {
      one.box = { left: one.left, right: one.left + wide, top: one.top, bottom: one.top + 16 };
      return free(one.box) && (hides === 0 || !hidesDisc(layout, one.box, k, hides));
    });
    if (!place) return false;
    taken.push(place.box);
    out.push(svg("text", { x: place.at, y: place.top + 12, "text-anchor": place.anchor,
      class: k === selected ? "selected" : null }, shown));
    return true;
  }
}

// Share of the radius of a disc within which a name hides it.
const HIDES = 0.8;
const HIDES_MIDDLE = 0.35;

const ruler = document.createElement("canvas").getContext("2d");
const family = getComputedStyle(document.body).fontFamily;
const widths = new Map();

function textWidth(text, bold) {
  const key = `${bold ? 700 : 400} ${text}`;
  if (!widths.has(key)) {
    const font = `${bold ? 700 : 400} 11.5px ${family}`;
    if (ruler.font !== font) ruler.font = font;
    widths.set(key, ruler.measureText(text).width);
  }
  return widths.get(key);
}

// Whether a label would lie across another disc, within a share of its radius.
function hidesDisc(layout, box, self, share) {
  for (const k of order.slice(0, 200)) {
    if (k === self) continue;
    const x = Math.min(Math.max(layout.x[k], box.left), box.right);
    const y = Math.min(Math.max(layout.y[k], box.top), box.bottom);
    if (Math.hypot(x - layout.x[k], y - layout.y[k]) < layout.r[k] * share) return true;
  }
  return false;
}
