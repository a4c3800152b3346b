// Traces, and what R-hat says of them.

const MODELS_AT_FIRST = 4;

function draw(body, { models, burn_in: burnIn, held_out: heldOut }) {
  let shown = 0;
  const grid = el("div", { class: "charts" });
  const more = el("button", { type: "button", class: "more", onclick: () => grow(20) });
  const grow = (n) => {
    for (const model of models.slice(shown, shown + n)) grid.append(...figures(model, burnIn));
    for (const line of heldOut.slice(shown, shown + n)) {
      grid.append(el("figure", {}, el("figcaption", {}, own(line.name), " over the sweeps"),
        lineChart([line], `${line.name} over the sweeps`, 0)));
    }
    shown += n;
    more.hidden = shown >= Math.max(models.length, heldOut.length);
    more.textContent = `Show more of ${count(models.length)} models`;
  };
  grow(MODELS_AT_FIRST);
  body.append(grid, more);
}

function figures(model, burnIn) {
  const lines = model.chains.map((chain, i) => ({ name: `chain ${i}`, ...chain }));
  const has = lines.some((line) => line.value.length);
  const name = model.name ? [own(model.name), ": "] : [];
  return [el("figure", {}, el("figcaption", {}, name, "log joint over the sweeps",
    lines.length > 1 ? `, ${lines.length} chains` : ""),
  has ? lineChart(lines, "Log joint over the sweeps", burnIn) : el("p", { class: "none" }, "No trace was kept."),
  el("dl", { class: "figures" }, chainFigures(model, lines)))];
}

function chainFigures(model, lines) {
  const out = [];
  const add = (name, value, note) => out.push(el("div", {}, el("dt", {}, name), el("dd", {}, value,
    note && el("span", { class: "note" }, note))));
  if (model.n_chains > 1) {
    const agree = model.rhat === null ? "too few draws to tell" : model.rhat < 1.01 ? "the chains agree"
      : model.rhat < 1.1 ? "the chains nearly agree" : "the chains differ: more sweeps, or several modes";
    add("R-hat", model.rhat === null ? "–" : model.rhat.toFixed(3), agree);
  }
  if (lines.length) {
    add("Effective samples", short(model.ess), model.ess === null ? "too few draws to tell" : `of the log joint, ${lines.length > 1 ? "all chains" : "one chain"}`);
  }
  if (model.sweeps !== null) {
    add("Sweeps", count(model.sweeps), model.stopped === "finished" ? null : `stopped: ${model.stopped}`);
  }
  if (model.n_chains > lines.length) add("Chains", String(model.n_chains), "the best one is drawn");
  return out;
}

section("convergence", { title: "Convergence", lead: ({ words }) => words, draw });
