// What is there is shown; what is below the fold is drawn when it comes near.

function summary() {
  const parts = [data.estimator, `${count(topics.length)} topic${topics.length === 1 ? "" : "s"}`];
  if (data.models.length > 1) parts.push(`${count(data.models.length)} models`);
  const names = data.target.names;
  if (data.target.kind === "numbers") parts.push(`${names.length} output${names.length === 1 ? "" : "s"}`);
  else if (names.length) parts.push(`${count(names.length)} labels`);
  const model = data.models[0];
  if (data.models.length === 1) parts.push(`${count(model.tokens)} tokens`);
  parts.push(`${count(model.n_words)} words`);
  return parts.join(" · ");
}

function topicsLead() {
  return data.models.length > 1
    ? "The topics of all models side by side; shares are of the tokens of a model." : "";
}

const parts = [
  { id: "topics", name: "Topics", there: true, lead: topicsLead, draw: () => drawWords(drawMap()) },
  { id: "labels", name: data.target.kind === "numbers" ? "Weights" : "Labels", there: data.weights.rows.length > 0,
    lead: weightsLead, draw: drawWeights },
  { id: "documents", name: "Documents", there: data.documents.length > 0, lead: documentsLead, draw: drawDocuments },
  { id: "scores", name: "Scores", there: data.quality !== null, lead: qualityLead, draw: drawQuality },
  { id: "convergence", name: "Convergence", there: true, lead: null, draw: drawConvergence },
  { id: "settings", name: "Settings", there: true, lead: null, draw: drawSettings },
];

function start() {
  byId("summary").textContent = summary();
  const waiting = new Map();
  const drawNow = (section) => {
    const draw = waiting.get(section);
    waiting.delete(section);
    if (draw) draw();
  };
  const watcher = new IntersectionObserver((entries) => {
    for (const entry of entries) {
      if (!entry.isIntersecting) continue;
      watcher.unobserve(entry.target);
      drawNow(entry.target);
    }
  }, { rootMargin: "800px 0px" });
  for (const part of parts) {
    if (!part.there) continue;
    const section = byId(part.id);
    section.hidden = false;
    byId(`${part.id}-title`).textContent = part.name;
    byId("nav").append(el("a", { href: `#${part.id}` }, part.name));
    const lead = part.lead ? part.lead() : "";
    const place = byId(`${part.id}-lead`);
    if (place) {
      place.textContent = lead;
      place.hidden = lead === "";
    }
    waiting.set(section, part.draw);
    if (part.id === "topics") drawNow(section);
    else watcher.observe(section);
  }
  const mark = (k) => {
    byId("chosen").replaceChildren(el("span", { class: "dot", ...colour(k) }), `Topic ${k} `, own(topicName(k)));
  };
  onChoice(mark);
  mark(chosen);
  window.addEventListener("beforeprint", () => { for (const section of [...waiting.keys()]) drawNow(section); });
  document.documentElement.dataset.ready = "true";
}

start();
