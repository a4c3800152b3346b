// The words of the chosen topic, in the order of the slider's relevance.

function drawWords(highlight) {
  const list = byId("words");
  const slider = byId("relevance");
  const select = byId("topic-select");
  slider.step = 1 / data.n_steps;
  slider.value = 0.6;

  const draw = () => {
    const lambda = Number(slider.value);
    byId("lambda").textContent = lambda.toFixed(2);
    slider.setAttribute("aria-valuetext", `lambda ${lambda.toFixed(2)}`);
    const shown = relevantWords(chosen, lambda, data.n_shown);
    const most = Math.max(...shown.map((entry) => entry.all), 1);
    put(list, colour(chosen), []);
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
    draw();
  };
  slider.addEventListener("input", draw);
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
