// Weights of topics for labels: a heat map of all, and the chosen topic with its uncertainty.

const ROWS_AT_FIRST = 24;
const NARROW = 8; // labels that leave room for the chosen topic beside them

function shade(standing) {
  return Math.round(3 + 97 * standing ** 2.2);
}

function draw(body, { rows }) {
  const several = data.models.length > 1;
  // Many labels need the width of the page.
  if (several || rows.length <= NARROW) body.classList.add("two");
  else body.classList.add("one");
  // Where a weight stands among all: weights themselves are so uneven that nearly all cells would look the same.
  const sizes = Float64Array.from(rows.flatMap((row) => row.mean.map(Math.abs))).sort();
  const standing = (size) => {
    let [low, high] = [0, sizes.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (sizes[middle] < size) low = middle + 1;
      else high = middle;
    }
    return low / Math.max(sizes.length - 1, 1);
  };
  let sortedBy = null;
  let nShown = ROWS_AT_FIRST;

  // Of several models, each has a row of weights of its own.
  const columns = () => (several ? [topics[chosen].model] : rows.map((_, task) => task));
  const weight = (task, k) => {
    const j = k - rows[task].first;
    return { mean: rows[task].mean[j], std: rows[task].std[j] };
  };

  const side = el("div", { class: "weights-side" });
  const heat = el("div", { class: "heat-side" });
  body.append(heat, side);
  const numbers = () => columns().length <= 4;

  const drawHeat = () => {
    const tasks = columns();
    const ownTopics = order.filter((k) => !several || topics[k].model === topics[chosen].model);
    const strength = (k) => (sortedBy === null
      ? Math.max(...tasks.map((task) => Math.abs(weight(task, k).mean))) : weight(sortedBy, k).mean);
    const sorted = ownTopics.map((k) => [k, strength(k)]).sort((a, b) => b[1] - a[1]).map(([k]) => k);
    const head = el("tr", {}, el("th", { scope: "col", class: "corner" }, "Topic"), tasks.map((task) =>
      el("th", { scope: "col", "aria-sort": sortedBy === task ? "descending" : null },
        el("button", { type: "button", class: "column", title: `Sort by ${rows[task].name}`,
          onclick: () => { sortedBy = sortedBy === task ? null : task; drawHeat(); focusOn(heat, ".column", tasks.indexOf(task)); } },
        own(rows[task].name)))));
    const lines = sorted.slice(0, nShown).map((k) => el("tr", { "data-topic": k, class: k === chosen ? "on" : null },
      el("th", { scope: "row" }, topicChip(k)),
      tasks.map((task) => cell(weight(task, k), rows[task].name, k))));
    const table = el("table", { class: `heat${numbers() ? " wide" : ""}` },
      el("caption", { class: "hidden" }, "Weights of the topics for the labels"),
      el("thead", {}, head), el("tbody", {}, lines));
    const more = sorted.length > nShown && el("button", { type: "button", class: "more",
      onclick: () => { nShown += 100; drawHeat(); focusOn(heat, "tbody .chip", lines.length); } }, `Show more of ${count(sorted.length)} topics`);
    heat.replaceChildren(el("div", { class: "scroll", tabindex: "0", role: "region",
      "aria-label": "Weights, scrolls sideways" }, table), legend(), more || "");
  };
  const cell = ({ mean, std }, name, k) => {
    const text = `${signed(mean)} ± ${Math.abs(std).toFixed(2)}`;
    // Full where the weight is twice its uncertainty or more.
    const sure = Math.min(std > 0 ? Math.abs(mean) / (2 * std) : 1, 1);
    return el("td", { title: `${isolated(name)}, topic ${k}: ${text}` },
      el("span", { class: `square ${mean < 0 ? "against" : "for"}`, "--s": 0.25 + 0.75 * Math.sqrt(sure),
        "--p": `${shade(standing(Math.abs(mean)))}%` }),
      numbers() ? el("span", { class: "figure" }, text) : el("span", { class: "hidden" }, text));
  };
  const [up, down] = data.target.kind === "numbers" ? ["raises the prediction", "lowers it"]
    : ["speaks for the label", "against it"];
  const steps = [0.05, 0.35, 0.65, 1];
  const scale = (side) => steps.map((at) => el("span", { class: `swatch square ${side}`, "--p": `${shade(at)}%` }));
  const legend = () => el("p", { class: "caption key" }, scale("for"), ` ${up} `, scale("against"), ` ${down}. Shade: where `,
    "a weight stands among all of them, the weakest pale, the strongest full. Smaller: uncertain (full size from two ",
    "standard deviations on).");

  const drawSide = () => {
    const entries = columns().map((task) => ({ name: rows[task].name, ...weight(task, chosen) }));
    entries.sort((a, b) => b.mean - a.mean);
    const most = 16;
    const shown = entries.length > most ? [...entries.slice(0, most / 2), ...entries.slice(-most / 2)] : entries;
    const reach = Math.max(...entries.map((entry) => Math.abs(entry.mean) + 2 * entry.std), 1e-9);
    const at = (value) => `${50 + (50 * Math.max(Math.min(value / reach, 1), -1))}%`;
    side.replaceChildren(el("h3", {}, "Topic ", String(chosen), " ", own(topicName(chosen))),
      el("ol", { class: "whiskers" }, shown.map((entry) => el("li", {
        title: `${isolated(entry.name)}: ${signed(entry.mean)} ± ${entry.std.toFixed(2)}` },
      own(entry.name, "span", { class: "name" }),
      el("span", { class: "line" },
        el("span", { class: "span", "--a": at(entry.mean - 2 * entry.std), "--b": at(entry.mean + 2 * entry.std) }),
        el("span", { class: `point ${entry.mean < 0 ? "against" : "for"}`, "--a": at(entry.mean) })),
      el("span", { class: "figure" }, signed(entry.mean))))),
      el("p", { class: "caption" }, "Weight of the chosen topic",
        entries.length > most ? `, the ${most / 2} highest and lowest of ${count(entries.length)} labels` : "",
        "; the line is two standard deviations of the samples either way."));
  };

  let model = topics[chosen].model;
  onChoice((k) => {
    if (topics[k].model !== model) {
      model = topics[k].model;
      sortedBy = null;
      drawHeat();
    }
    for (const line of heat.querySelectorAll("tr.on")) line.classList.remove("on");
    const line = heat.querySelector(`tr[data-topic="${k}"]`);
    if (line) line.classList.add("on");
    drawSide();
  });
  drawHeat();
  drawSide();
}

function lead({ n_left_out: leftOut }) {
  const { names, binary, kind, pairs } = data.target;
  const said = [];
  if (kind === "numbers") said.push("What a topic adds to a prediction, in standard deviations of the target, for a "
    + "document that is all of this topic.");
  else if (binary) said.push(`What a topic says for ${names[1]}, or, below zero, for ${names[0]}.`);
  else if (pairs) said.push("There is a model for every pair of labels, with topics of its own; shown is the model of "
    + "the chosen topic. A weight above zero speaks for the first label named.");
  else said.push("Which topics speak for a label, and which against it.");
  if (data.models.length > 1 && !pairs) {
    said.push("Every label has a model with topics of its own; shown is the model of the chosen topic.");
  }
  if (leftOut) said.push(`${count(leftOut)} labels with weaker weights are left out.`);
  return said.join(" ");
}

section("labels", { title: data.target.kind === "numbers" ? "Weights" : "Labels", lead, draw });
