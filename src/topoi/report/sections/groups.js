// Topics over time (lines with bands, a small one for each topic) and by group (a matrix of differences).

const PANELS_AT_FIRST = 12;
const LINES_AT_FIRST = 24;
const SMALL = { wide: 180, high: 84, left: 38, right: 6, top: 6, bottom: 4 };
const LARGE = { wide: Math.min(1100, Math.max(document.documentElement.clientWidth - 48, 280)), high: 260,
  left: 52, right: 14, top: 12, bottom: 30 };
const DOUBLINGS = 3; // from so many on a colour is full

function lead({ level, columns, n_topics: nTopics }) {
  const said = ["The mean share of topics in documents of a group or period. An interval has, with a probability of "
    + `${percent(level)}, the expected share of another document like these.`];
  const fewest = Math.min(...columns.map((column) => column.topics.length));
  if (fewest < nTopics) said.push(`Of ${count(nTopics)} topics the ${count(fewest)} that vary most are shown.`);
  return said.join(" ");
}

function draw(body, { columns, unit, level }) {
  const choice = el("select", { id: "groups-by" }, columns.map((column, i) => el("option", { value: i }, column.name)));
  const place = el("div");
  if (columns.length > 1) {
    body.append(el("div", { class: "tools" },
      el("label", { class: "grow" }, el("span", { class: "hidden" }, "Column"), choice)));
  }
  body.append(place);
  let shown = null;
  const update = () => { shown = drawColumn(place, columns[Number(choice.value) || 0], unit, level); };
  choice.addEventListener("change", update);
  update();
  onChoice(() => shown.choose());
}

// One column: all its topics, and the chosen one by itself.
function drawColumn(place, column, unit, level) {
  const byTopic = new Map(column.topics.map((topic) => [topic.topic, topic]));
  const said = [];
  if (column.n_groups > column.groups.length) {
    said.push(`The ${count(column.groups.length)} groups with most documents, of ${count(column.n_groups)}.`);
  }
  if (column.n_missing) said.push(`${count(column.n_missing)} documents have no value.`);
  const all = el("div");
  const one = el("div", { class: "one-topic" });
  const isLine = column.kind !== "categories";
  place.replaceChildren(said.length ? el("p", { class: "note" }, said.join(" ")) : "", ...(isLine ? [one, all] : [all, one]));
  const mark = (isLine ? drawPanels : drawMatrix)(all, column, unit);
  const choose = () => {
    mark();
    const topic = byTopic.get(chosen);
    const title = el("h3", {}, "Topic ", String(chosen), " ", own(topicName(chosen)));
    if (!topic) {
      one.replaceChildren(title, el("p", { class: "none" }, "It varies little with ", own(column.name), ", and is left out here."));
      return;
    }
    one.replaceChildren(title, isLine ? lineOf(topic, column, unit, LARGE) : whiskersOf(topic, column, unit),
      el("details", {}, el("summary", {}, "Numbers"), tableOf(topic, column, unit, level)));
  };
  choose();
  return { choose };
}

// Small multiples, those topics first that vary most.
function drawPanels(all, column, unit) {
  let nShown = PANELS_AT_FIRST;
  const list = el("div", { class: "panels" });
  const more = el("button", { type: "button", class: "more", onclick: () => {
    const first = list.childElementCount;
    nShown += 24;
    fill();
    focusOn(list, ".panel", first);
  } });
  const fill = () => {
    for (const topic of column.topics.slice(list.childElementCount, nShown)) {
      const k = topic.topic;
      list.append(el("button", { type: "button", class: "panel", "data-topic": k, onclick: () => choose(k) },
        el("span", { class: "panel-title" }, el("span", { class: "dot", ...colour(k) }), `${k} `, own(topicName(k))),
        lineOf(topic, column, unit, SMALL)));
    }
    more.textContent = `Show more of ${count(column.topics.length)} topics`;
    more.hidden = nShown >= column.topics.length;
    mark();
  };
  const mark = () => {
    for (const panel of list.children) {
      const on = Number(panel.dataset.topic) === chosen;
      panel.classList.toggle("on", on);
      panel.setAttribute("aria-pressed", String(on));
    }
  };
  fill();
  all.replaceChildren(list, more);
  return mark;
}

// The line of a topic with its band, and its share in all documents.
function lineOf(topic, column, unit, box) {
  const { there, highest, px, py, curve } = shareCurve(topic, column, unit, box);
  const best = there.reduce((a, b) => (topic.share[b] > topic.share[a] ? b : a), there[0]);
  const root = svg("svg", { viewBox: `0 0 ${box.wide} ${box.high}`, class: "chart", role: "img",
    "aria-label": `Share of topic ${topic.topic} over ${column.name}: highest in ${column.groups[best]}, `
      + `${percent(topic.share[best] / unit)}` });
  for (const y of ticks(0, highest, box === SMALL ? 2 : 4)) {
    root.append(svg("line", { x1: box.left, x2: box.wide - box.right, y1: py(y), y2: py(y), class: "grid" }),
      svg("text", { x: box.left - 5, y: py(y) + 4, "text-anchor": "end" }, y === 0 ? "0" : percent(y)));
  }
  root.append(svg("line", { x1: box.left, x2: box.wide - box.right, y1: py(topic.overall), y2: py(topic.overall),
    class: "diagonal" }), ...curve);
  if (box === LARGE) root.append(...groupTicks(there, column, px, box), ...hovers(there, topic, column, unit, px, box));
  return root;
}

function groupTicks(there, column, px, box) {
  const room = 12 + 7.5 * Math.max(...there.map((g) => column.groups[g].length));
  const out = [];
  let end = -Infinity;
  for (const g of there) {
    const x = Math.min(Math.max(px(column.at[g]), box.left + room / 2 - 10), box.wide - room / 2);
    if (x - room / 2 < end) continue;
    end = x + room / 2;
    out.push(svg("text", { x: x.toFixed(1), y: box.high - 10, "text-anchor": "middle" }, column.groups[g]));
  }
  return out;
}

// What the mouse is told; the table below has the same for all.
function hovers(there, topic, column, unit, px, box) {
  const half = Math.max((box.wide - box.left - box.right) / Math.max(there.length - 1, 1) / 2, 3);
  return there.map((g) => svg("rect", { x: (px(column.at[g]) - half).toFixed(1), y: 0, width: (2 * half).toFixed(1),
    height: box.high - box.bottom, class: "hover" }, svg("title", {}, told(topic, column, unit, g))));
}

function told(topic, column, unit, g) {
  const [share, low, high] = [topic.share, topic.low, topic.high].map((values) => percent(values[g] / unit));
  return `${isolated(column.groups[g])}: ${share} (${low} to ${high}), ${count(column.documents[g])} documents`;
}

// Topics and groups: the colour says how many times the share of all documents it is.
function drawMatrix(all, column, unit) {
  let nShown = LINES_AT_FIRST;
  let sortedBy = null;
  const fill = () => {
    const sorted = sortedBy === null ? column.topics
      : column.topics.slice().sort((a, b) => b.share[sortedBy] - a.share[sortedBy]);
    const head = el("tr", {}, el("th", { scope: "col", class: "corner" }, "Topic"), el("th", { scope: "col", class: "corner" }, "all"),
      column.groups.map((name, g) => el("th", { scope: "col", "aria-sort": sortedBy === g ? "descending" : null },
        el("button", { type: "button", class: "column", title: `${isolated(name)}: ${count(column.documents[g])} documents. Sort by it`,
          onclick: () => { sortedBy = sortedBy === g ? null : g; fill(); focusOn(all, ".column", g); } }, own(name)))));
    const lines = sorted.slice(0, nShown).map((topic) => el("tr", { "data-topic": topic.topic },
      el("th", { scope: "row" }, topicChip(topic.topic)), el("td", { class: "all-of" }, percent(topic.overall)),
      column.groups.map((_, g) => cell(topic, column, unit, g))));
    const table = el("table", { class: "heat shares-of" }, el("caption", { class: "hidden" }, "Shares of topics by group, in percent"),
      el("thead", {}, head), el("tbody", {}, lines));
    const more = sorted.length > nShown && el("button", { type: "button", class: "more",
      onclick: () => { nShown += 100; fill(); focusOn(all, "tbody .chip", lines.length); } }, `Show more of ${count(sorted.length)} topics`);
    all.replaceChildren(el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Shares by group, scrolls sideways" },
      table), legend(), more || "");
    mark();
  };
  const mark = () => {
    for (const line of all.querySelectorAll("tbody tr")) line.classList.toggle("on", Number(line.dataset.topic) === chosen);
  };
  fill();
  return mark;
}

function cell(topic, column, unit, g) {
  const share = topic.share[g] / unit;
  const doublings = Math.log2((share + 1e-6) / (topic.overall + 1e-6));
  const sure = topic.low[g] / unit > topic.overall || topic.high[g] / unit < topic.overall;
  const strength = Math.round(100 * Math.min(Math.abs(doublings) / DOUBLINGS, 1) * (sure ? 1 : 0.25));
  const value = 100 * share;
  return el("td", { class: `${doublings < 0 ? "less" : "greater"}${sure ? "" : " unsure"}`, "--p": `${strength}%`,
    title: told(topic, column, unit, g) }, value >= 9.95 ? value.toFixed(0) : value.toFixed(1));
}

function legend() {
  const names = ["⅛", "¼", "½", "1", "2", "4", "8"];
  const steps = names.map((name, i) => el("span", { class: i < DOUBLINGS ? "less" : "greater",
    "--p": `${Math.round((100 * Math.abs(i - DOUBLINGS)) / DOUBLINGS)}%` }, name));
  return el("p", { class: "caption" }, "Percent of a document. Times the share in all documents: ",
    el("span", { class: "scale" }, steps), " Pale and grey: the interval has the share of all documents in it.");
}

// The chosen topic by group: dots with their intervals, from 0 on.
function whiskersOf(topic, column, unit) {
  const order = column.groups.map((_, g) => g).sort((a, b) => topic.share[b] - topic.share[a]);
  const most = 30;
  const shown = order.length > most ? [...order.slice(0, most / 2), ...order.slice(-most / 2)] : order;
  const reach = Math.max(...shown.map((g) => topic.high[g]), topic.overall * unit, 1);
  const at = (value) => `${(100 * value) / reach}%`;
  const line = (g) => el("li", { title: told(topic, column, unit, g) }, own(column.groups[g], "span", { class: "name" }),
    el("span", { class: "line from-zero", "--all": at(topic.overall * unit) },
      el("span", { class: "span", "--a": at(topic.low[g]), "--b": at(topic.high[g]) }),
      el("span", { class: "point for", "--a": at(topic.share[g]) })),
    el("span", { class: "figure" }, percent(topic.share[g] / unit)));
  return el("div", {}, el("ol", { class: "whiskers" }, shown.map(line)),
    el("p", { class: "caption" }, "The upright line is the share in all documents",
      order.length > most ? `; of ${count(order.length)} groups the highest and the lowest.` : "."));
}

function tableOf(topic, column, unit, level) {
  const head = [column.period || "group", "documents", "share", `${percent(level)} from`, "to"];
  const lines = column.groups.map((name, g) => el("tr", {}, el("th", { scope: "row" }, own(name)),
    el("td", { class: "figure" }, count(column.documents[g])),
    [topic.share, topic.low, topic.high].map((values) => el("td", { class: "figure" }, percent(values[g] / unit)))));
  return el("div", { class: "scroll tall", tabindex: "0", role: "region", "aria-label": "Shares of the topic" },
    el("table", { class: "plain" }, el("thead", {}, el("tr", {}, head.map((name) => el("th", { scope: "col" }, name)))),
      el("tbody", {}, lines)));
}

const kinds = new Set(data.sections.groups.columns.map((column) => column.kind === "dates"));
section("groups", { title: kinds.size > 1 ? "Time and groups" : kinds.has(true) ? "Over time" : "By group", lead, draw });
