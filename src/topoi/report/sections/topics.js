// The map of the topics, and the words of the chosen one in the order of the slider's relevance.

function draw(body, { places, n_shown: nShown, n_steps: nSteps, trust }) {
  const box = el("div", { class: "map", id: "map" });
  body.classList.add("two");
  body.append(
    el("div", { class: "map-side" }, box, el("p", { class: "caption" },
      "Area: share of the tokens. Distance: Jensen–Shannon divergence of the words, flattened to two dimensions; topics that "
        + "are like no other are drawn nearer than they are. ",
      el("span", { class: "keys" }, "Arrow keys go from topic to topic."))),
    wordSide(nSteps));
  drawWords(topicMap(box, places), nShown);
  if (trust.length) drawTrust(byId("trust"), trust);
}

// In how many chains the chosen topic was found.
function drawTrust(line, trust) {
  const update = () => {
    const { found_in: foundIn, n_chains: nChains, agreement } = trust[chosen];
    const mean = agreement === null ? "" : `; mean overlap with its partners ${percent(agreement)}`;
    line.textContent = `Found in ${foundIn} of ${nChains} chains${mean}`;
  };
  onChoice(update);
  update();
}

// The list of words and its controls, empty.
function wordSide(nSteps) {
  const button = (id, label, text) => el("button", { type: "button", class: "step", id, "aria-label": label }, text);
  const unseen = (text) => el("span", { class: "hidden" }, text);
  return el("div", { class: "words-side" },
    el("div", { class: "tools" },
      button("previous", "Previous topic", "‹"),
      el("label", { class: "grow" }, unseen("Topic"), el("select", { id: "topic-select" })),
      button("next", "Next topic", "›")),
    el("div", { class: "tools finder" },
      el("label", { class: "grow" }, unseen("Find topics by a word"),
        el("input", { type: "search", id: "find", placeholder: "find topics by a word …", autocomplete: "off",
          spellcheck: "false", dir: "auto" })),
      el("span", { class: "status", id: "found", role: "status" })),
    el("div", { class: "tools slider" },
      el("label", { for: "relevance" }, "Relevance\u00a0", el("i", {}, "λ"), " = ",
        el("output", { id: "lambda", for: "relevance" })),
      el("div", { class: "grow" },
        el("input", { type: "range", id: "relevance", min: 0, max: 1, step: 1 / nSteps, value: 0.6,
          "aria-describedby": "relevance-note" }),
        el("div", { class: "ends", id: "relevance-note" }, el("span", {}, "0 distinctive"), el("span", {}, "1 frequent")))),
    el("p", { class: "status", id: "trust", role: "status" }),
    el("ol", { class: "words", id: "words", "aria-label": "Words of the chosen topic" }),
    el("p", { class: "caption", id: "words-key" }, el("span", { class: "swatch here" }), " tokens in this topic ",
      el("span", { class: "swatch all" }), " tokens in all topics"));
}

function drawWords(highlight, nShown) {
  const list = byId("words");
  const slider = byId("relevance");
  const select = byId("topic-select");

  const update = () => {
    const lambda = Number(slider.value);
    byId("lambda").textContent = lambda.toFixed(2);
    slider.setAttribute("aria-valuetext", `lambda ${lambda.toFixed(2)}`);
    const shown = relevantWords(chosen, lambda, nShown);
    const most = Math.max(...shown.map((entry) => entry.all), 1);
    put(list, colour(chosen), []);
    put(byId("words-key"), colour(chosen), []);
    list.replaceChildren(...shown.map((entry) => {
      const all = `${(100 * entry.all) / most}%`;
      const here = `${(100 * entry.here) / most}%`;
      return el("li", { title: `${tokens(entry.here)} of ${count(entry.all)} tokens are in this topic`,
        "data-word": entry.word },
        own(data.words[entry.word], "span", { class: "word" }),
        el("span", { class: "track" },
          el("span", { class: "all", "--w": all }), el("span", { class: "here", "--w": here })),
        el("span", { class: "figure" }, tokens(entry.here)));
    }));
    if (shown.length === 0) list.append(el("li", { class: "none" }, "No word has a token in this topic."));
  };
  const mark = () => {
    select.value = String(chosen);
    byId("previous").disabled = rank[chosen] === 0;
    byId("next").disabled = rank[chosen] === order.length - 1;
    update();
  };
  slider.addEventListener("input", update);
  byId("previous").addEventListener("click", () => choose(neighbour(-1)));
  byId("next").addEventListener("click", () => choose(neighbour(1)));
  fillSelect(select, order);
  select.addEventListener("change", () => choose(Number(select.value)));

  const find = byId("find");
  let matching = null;
  const search = () => {
    const text = find.value.trim();
    matching = text === "" ? null : topicsWith(text);
    byId("found").textContent = matching === null ? ""
      : matching.length === 1 ? "1 topic" : `${count(matching.length)} topics`;
    highlight(matching);
    fillSelect(select, matching === null ? order : matching);
    if (matching !== null && matching.length && !matching.includes(chosen)) choose(matching[0]);
    select.value = String(chosen);
  };
  find.addEventListener("input", search);
  // A word under the pointer shows on the map which topics have it.
  list.addEventListener("pointerover", (event) => {
    const item = event.pointerType === "touch" ? null : event.target.closest("li[data-word]");
    highlight(item ? topicsWith(data.words[Number(item.dataset.word)]) : matching);
  });
  list.addEventListener("pointerleave", () => highlight(matching));
  onChoice(mark);
  onEdit(search);
  onEdit(update);
  mark();
}

function fillSelect(select, some) {
  select.replaceChildren();
  const several = data.models.length > 1;
  const groups = data.models.map((model) => el(several ? "optgroup" : "div", several ? { label: model.name } : {}));
  for (const k of some) {
    groups[topics[k].model].append(
      el("option", { value: k }, `${k}  ${isolated(topicName(k))}  (${percent(topics[k].share)})`));
  }
  for (const group of groups) if (group.childNodes.length) select.append(...(several ? [group] : group.childNodes));
}

function lead({ trust }) {
  const models = data.models.length > 1
    ? "The topics of all models side by side; shares are of the tokens of a model. " : "";
  if (!trust.length) return models.trim();
  const everywhere = trust.filter((one) => one.found_in === one.n_chains).length;
  return `${models}${count(everywhere)} of ${count(trust.length)} topics were found in all ${trust[0].n_chains} chains: ` +
    "each chain has a topic that shares at least half of the probability of its words.";
}

section("topics", { title: "Topics", lead, draw, atOnce: true });
