// Scores: confusions and a table of labels, or predicted against true numbers.

const MOST_LABELS_IN_MATRIX = 40;

function draw(body, scores) {
  if (scores.kind === "numbers") {
    body.append(el("div", { class: "charts" }, scores.outputs.map(numberFigure)));
    return;
  }
  body.append(el("dl", { class: "figures" }, scores.figures.map(([name, value]) =>
    el("div", {}, el("dt", {}, name), el("dd", {}, percent(value))))));
  const two = el("div", { class: scores.confusion.length && scores.names.length > 8 ? "one" : "two even" });
  if (scores.confusion.length) {
    two.append(scores.names.length <= MOST_LABELS_IN_MATRIX ? confusionMatrix(scores) : confusionList(scores));
  }
  two.append(labelTable(scores));
  body.append(two);
}

function confusionMatrix(scores) {
  const { names, confusion } = scores;
  const n = names.map(() => names.map(() => 0));
  for (const [i, j, times] of confusion) n[i][j] = times;
  const small = names.length > 12;
  const rows = names.map((name, i) => {
    const total = n[i].reduce((sum, times) => sum + times, 0);
    return el("tr", {}, el("th", { scope: "row" }, own(name)), names.map((other, j) => el("td", {
      title: `${count(n[i][j])} documents of ${name} predicted to be ${other}`, class: i === j ? "hit" : "miss",
      "--p": `${total ? Math.round(100 * Math.sqrt(n[i][j] / total)) : 0}%` },
    el("span", { class: small && i !== j && n[i][j] === 0 ? "zero" : null }, n[i][j] ? count(n[i][j]) : "·"))));
  });
  return el("div", {}, el("h3", {}, "Confusions"), el("div", { class: "scroll", tabindex: "0", role: "region",
    "aria-label": "Confusion matrix, scrolls sideways" },
  el("table", { class: "confusion" }, el("caption", { class: "hidden" }, "Rows are true labels, columns predicted ones"),
    el("thead", {}, el("tr", {}, el("th", { scope: "col", class: "corner" }, "true \\ predicted"),
      names.map((name) => el("th", { scope: "col" }, own(name, "span", { class: "turned" }))))),
    el("tbody", {}, rows))),
  el("p", { class: "caption" }, "Rows are true labels, columns predicted ones. Shade: share of the row, by its root, so "
    + "that rare confusions can be seen."));
}

function confusionList(scores) {
  const wrong = scores.confusion.filter(([i, j]) => i !== j).sort((a, b) => b[2] - a[2]).slice(0, 40);
  return el("div", {}, el("h3", {}, "Most frequent confusions"), el("table", { class: "plain" },
    el("thead", {}, el("tr", {}, ["is", "predicted", "documents"].map((name) => el("th", { scope: "col" }, name)))),
    el("tbody", {}, wrong.map(([i, j, times]) => el("tr", {}, el("td", {}, own(scores.names[i])),
      el("td", {}, own(scores.names[j])), el("td", { class: "figure" }, count(times)))))));
}

function labelTable(scores) {
  const head = ["label", "precision", "recall", "F1", "documents"];
  const rows = scores.labels.map(([p, r, f, n], i) => el("tr", {}, el("th", { scope: "row" }, own(scores.names[i])),
    [p, r, f].map((value) => el("td", { class: "figure" }, n || value ? value.toFixed(2) : "–")),
    el("td", { class: "figure" }, count(n))));
  return el("div", {}, el("h3", {}, "Labels"), el("div", { class: "scroll tall", tabindex: "0", role: "region",
    "aria-label": "Scores of the labels" },
  el("table", { class: "plain" }, el("thead", {}, el("tr", {}, head.map((name) => el("th", { scope: "col" }, name)))),
    el("tbody", {}, rows))));
}

function numberFigure(output) {
  return el("figure", {}, el("figcaption", {}, own(output.name), ": predicted (up) against true (across)"),
    scatter(output.true, output.predicted, `${output.name}: predicted against true`),
    el("dl", { class: "figures" }, [["R²", output.r2], ["Mean absolute error", output.mae],
      ["Root mean squared error", output.rmse], ["Documents", output.n]].map(([name, value]) =>
      el("div", {}, el("dt", {}, name), el("dd", {}, short(value))))));
}

function lead({ n, outputs }) {
  const size = n === undefined ? Math.max(...outputs.map((output) => output.n)) : n;
  return `${count(size)} documents whose truth is known. ${heldOutSentence()}`;
}

section("scores", { title: "Scores", lead, draw });
