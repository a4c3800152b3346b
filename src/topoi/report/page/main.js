// The line below the title and the chosen topic in the bar; then the page is ready.

function summary() {
  const parts = [data.estimator, `${count(topics.length)} topic${topics.length === 1 ? "" : "s"}`];
  if (leftOut.length) parts.push(`${count(leftOut.length)} hidden`);
  if (data.models.length > 1) parts.push(`${count(data.models.length)} models`);
  const names = data.target.names;
  if (data.target.kind === "numbers") parts.push(`${names.length} output${names.length === 1 ? "" : "s"}`);
  else if (names.length) parts.push(`${count(names.length)} labels`);
  const model = data.models[0];
  if (data.models.length === 1) parts.push(`${count(model.tokens)} tokens`);
  parts.push(`${count(model.n_words)} words`);
  return parts.join(" · ");
}

function start() {
  byId("summary").textContent = summary();
  const mark = (k) => {
    byId("chosen").replaceChildren(el("span", { class: "dot", ...colour(k) }), `Topic ${k} `, own(topicName(k)));
  };
  onChoice(mark);
  onEdit(() => mark(chosen));
  mark(chosen);
  requestAnimationFrame(() => setTimeout(() => {
    soon.forEach(drawNow);
    document.documentElement.dataset.ready = "true";
  }));
}

start();
