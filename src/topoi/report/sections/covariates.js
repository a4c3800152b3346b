// Effects of covariates: a dot with its interval for each, and the same numbers as a table.

function draw(body, { names, level, rows }) {
  const choice = rows.length > 1 && el("select", { id: "effects-of" },
    rows.map((row, i) => el("option", { value: i }, row.name)));
  const parts = el("div", { class: "two even" });
  body.append(...[choice && el("div", { class: "tools" },
    el("label", { class: "grow" }, el("span", { class: "hidden" }, "Label"), choice)), parts].filter(Boolean));
  const update = () => {
    const { effects } = rows[choice ? Number(choice.value) : 0];
    parts.replaceChildren(dots(effects, names, level), table(effects, names));
  };
  if (choice) choice.addEventListener("change", update);
  update();
}

function dots(effects, names, level) {
  const sizes = effects.flatMap(([, mean, low, high]) => [mean, low, high].map((value) => Math.abs(value || 0)));
  const reach = Math.max(...sizes, 1e-9);
  const at = (value) => `${50 + (50 * value) / reach}%`;
  const line = ([j, mean, low, high]) => {
    const known = low !== null && high !== null;
    const side = mean < 0 ? "against" : "for";
    return el("li", { title: `${isolated(names[j])}: ${told(mean, low, high)}` },
      own(names[j], "span", { class: "name" }),
      el("span", { class: "line" }, known && el("span", { class: "span", "--a": at(low), "--b": at(high) }),
        el("span", { class: `point ${side}${known && low <= 0 && high >= 0 ? " unsure" : ""}`, "--a": at(mean) })),
      el("span", { class: "figure" }, signed(mean)));
  };
  return el("div", {}, el("ol", { class: "whiskers" }, effects.map(line),
    el("li", { class: "axis", "aria-hidden": "true" }, el("span", {}),
      el("span", { class: "ends" }, el("span", {}, signed(-reach)), el("span", {}, "0"), el("span", {}, signed(reach))),
      el("span", {}))),
  el("p", { class: "caption" }, `The line is an interval of ${percent(level)}; a pale dot is an effect that `
    + "may as well be of the other sign."));
}

function told(mean, low, high) {
  return low === null || high === null ? signed(mean) : `${signed(mean)} (${signed(low)} to ${signed(high)})`;
}

function table(effects, names) {
  const head = ["covariate", "effect", "from", "to"];
  const figure = (value) => el("td", { class: "figure" }, value === null ? "–" : signed(value));
  const lines = effects.map(([j, ...values]) => el("tr", {}, el("th", { scope: "row" }, own(names[j])),
    values.map(figure)));
  return el("div", { class: "scroll tall", tabindex: "0", role: "region", "aria-label": "Effects of the covariates" },
    el("table", { class: "plain" }, el("thead", {}, el("tr", {}, head.map((name) => el("th", { scope: "col" }, name)))),
      el("tbody", {}, lines)));
}

function lead({ names, rows, unit, n_labels: nLabels }) {
  const said = ["What a covariate adds among documents of the same topics: a number by one standard deviation of it, a "
    + `category against the average of all documents; in ${unit}.`];
  const { kind, binary, names: labels } = data.target;
  if (kind !== "numbers" && binary) said.push(`Above zero it speaks for ${labels[1]}, below for ${labels[0]}.`);
  if (rows[0].effects.length < names.length) {
    said.push(`Of ${count(names.length)} columns the ${count(rows[0].effects.length)} strongest are shown.`);
  }
  if (rows.length < nLabels) said.push(`${count(nLabels - rows.length)} labels are left out.`);
  return said.join(" ");
}

section("covariates", { title: "Covariates", lead, draw });
