// How topics vary with covariates: of the chosen topic a table of the changes of its share.

function lead({ level, topics, n_topics: nTopics }) {
  const said = ["How the share of a topic changes with a covariate, in percentage points, all else as it is: if all "
    + "documents had the category or the value, or one standard deviation more of a number (+1 sd). Intervals are of "
    + `${percent(level)}.`];
  if (topics.length < nTopics) said.push(`${count(nTopics - topics.length)} topics are left out.`);
  return said.join(" ");
}

const called = (k) => `${k}  ${isolated(topicName(k))}`;

function draw(body, { topics }) {
  const choice = el("select", { id: "effects-on" }, topics.map(({ topic: k }, i) => el("option", { value: i }, called(k))));
  const place = el("div", { class: "scroll tall", tabindex: "0", role: "region", "aria-label": "Effects on the topic" });
  body.append(el("div", { class: "tools" },
    el("label", { class: "grow" }, el("span", { class: "hidden" }, "Topic"), choice)), place);
  const points = (value) => el("td", { class: "figure" }, value === null ? "–" : signed(100 * value));
  const update = () => {
    const lines = topics[Number(choice.value)].effects.map(([covariate, value, ...numbers]) => el("tr", {},
      el("th", { scope: "row" }, own(covariate)), el("td", {}, own(value)), numbers.map(points)));
    const head = ["covariate", "value", "change", "from", "to"].map((name) => el("th", { scope: "col" }, name));
    place.replaceChildren(el("table", { class: "plain" }, el("thead", {}, el("tr", {}, head)), el("tbody", {}, lines)));
  };
  choice.addEventListener("change", update);
  onEdit(() => {
    topics.forEach(({ topic: k }, i) => { choice.options[i].textContent = called(k); });
  });
  update();
}

section("prevalence", { title: "Topics by covariates", lead, draw });
