// Documents: search, filters, and a list that grows as it is asked to.

const PAGE = 20;
const SNIPPET = 420;

function draw(body, { shown: all }) {
  const { kind, names } = data.target;
  const labelled = kind === "one" || kind === "several";
  const scored = labelled && all.some((doc) => doc.truth);
  const search = el("input", { type: "search", id: "search", placeholder: "words, names, labels …",
    autocomplete: "off", spellcheck: "false", dir: "auto" });
  const ofTopic = el("input", { type: "checkbox", id: "of-topic" });
  const label = labelled && el("select", { id: "of-label" }, el("option", { value: "" }, "any label"),
    scored && el("option", { value: "wrong" }, "wrongly predicted"),
    names.map((name, i) => el("option", { value: `=${i}` }, name)));
  const status = el("p", { class: "status", role: "status" });
  const list = el("div", { class: "docs" });
  const more = el("button", { type: "button", class: "more" });
  body.append(el("div", { class: "tools", role: "search" },
    el("label", { class: "grow" }, el("span", { class: "hidden" }, "Search the documents"), search),
    label && el("label", {}, el("span", { class: "hidden" }, "Label"), label),
    el("label", { class: "check" }, ofTopic, " with the chosen topic")), status, list, more);

  let found = all;
  let shown = 0;
  const grow = () => {
    const next = found.slice(shown, shown + PAGE).map(documentCard);
    list.append(...next);
    shown += next.length;
    more.hidden = shown >= found.length;
    more.textContent = `Show ${Math.min(PAGE, found.length - shown)} more of ${count(found.length)}`;
    return next[0];
  };
  const update = () => {
    const parts = search.value.toLowerCase().split(/\s+/u).filter(Boolean);
    const wanted = label ? label.value : "";
    found = all.filter((doc) => parts.every((part) => searchable(doc).includes(part))
      && (wanted === "" || (wanted === "wrong" ? doc.wrong : hasLabel(doc, Number(wanted.slice(1)))))
      && (!ofTopic.checked || doc.topics.includes(chosen)));
    if (ofTopic.checked) {
      const share = (doc) => doc.shares[doc.topics.indexOf(chosen)];
      found.sort((a, b) => share(b) - share(a));
    }
    status.textContent = found.length === all.length ? "" : found.length === 1 ? "1 document"
      : `${count(found.length)} documents`;
    list.replaceChildren();
    shown = 0;
    grow();
  };
  let waiting = 0;
  search.addEventListener("input", () => {
    clearTimeout(waiting);
    waiting = setTimeout(update, 120);
  });
  if (label) label.addEventListener("change", update);
  ofTopic.addEventListener("change", update);
  more.addEventListener("click", () => {
    const first = grow();
    const stop = first && first.querySelector("summary, button");
    if (stop) stop.focus();
  });
  list.addEventListener("click", (event) => {
    const word = event.target.closest(".w");
    if (word) choose(Number(word.dataset.topic));
  });
  onChoice((k) => {
    if (ofTopic.checked) {
      update();
      return;
    }
    for (const on of list.querySelectorAll(".on")) on.classList.remove("on");
    for (const node of list.querySelectorAll(`[data-topic="${k}"]`)) node.classList.add("on");
  });
  update();
}

function hasLabel(doc, label) {
  return doc.predicted.includes(label) || Boolean(doc.truth && doc.truth.includes(label));
}

function searchable(doc) {
  if (doc.haystack === undefined) {
    const parts = [doc.id, doc.text || "", ...doc.words.map((word) => data.words[word])];
    if (data.target.kind === "one" || data.target.kind === "several") {
      for (const label of [...doc.predicted, ...(doc.truth || [])]) parts.push(data.target.names[label]);
    }
    doc.haystack = parts.join("\n").toLowerCase();
  }
  return doc.haystack;
}

function documentCard(doc) {
  const bag = doc.text === undefined;
  const brief = () => (bag ? colouredBag(doc, 60) : colouredText(doc, SNIPPET, new Set()));
  const full = () => (bag ? colouredBag(doc, Infinity) : colouredText(doc, Infinity, new Set()));
  const long = bag ? doc.words.length > 60 : doc.text.length > SNIPPET;
  const text = own(brief(), "p", { class: "text" });
  const rest = el("div", { class: "rest" });
  const details = (long || doc.why.length > 0 || !bag) && doc.tokens > 0 && el("details", { ontoggle: () => {
    if (rest.childNodes.length === 0) rest.append(...moreOf(doc));
    if (long) text.replaceChildren(...(details.open ? full() : brief()));
  } }, el("summary", {}, doc.why.length === 0 ? "More" : long ? "Why, and all of it" : "Why"), rest);
  return el("article", { class: "doc" },
    el("header", {}, own(/^\d+$/u.test(doc.id) ? `Document ${doc.id}` : doc.id, "h3"), verdict(doc),
      el("span", { class: "size" }, `${count(doc.tokens)} tokens`)),
    doc.text === "" || (bag && doc.tokens === 0) ? null : text,
    doc.tokens === 0 && el("p", { class: "text none" }, "None of its words is known to the model."),
    doc.tokens > 0 && stack(doc),
    details);
}

// The topic shares as one bar, and the topics by name.
function stack(doc) {
  const rest = Math.max(1 - doc.shares.reduce((sum, share) => sum + share, 0), 0);
  const bar = el("div", { class: "stack", "aria-hidden": "true" },
    doc.topics.map((k, j) => el("span", { ...colour(k), "--w": doc.shares[j],
      title: `Topic ${k}: ${topicName(k)}, ${percent(doc.shares[j])}`, onclick: () => choose(k) })),
    rest > 0.004 && el("span", { class: "others", "--w": rest, title: `other topics, ${percent(rest)}` }));
  const chips = doc.topics.slice(0, 4).map((k, j) => topicChip(k, el("span", { class: "share" }, percent(doc.shares[j]))));
  return el("div", { class: "shares" }, bar, el("div", { class: "chips" }, chips));
}

function verdict(doc) {
  if (!doc.predicted) return null;
  const { kind, names } = data.target;
  if (kind === "numbers") {
    const truth = doc.truth ? `, is ${doc.truth.map(short).join(", ")}` : "";
    return el("span", { class: "verdict" }, `predicted ${doc.predicted.map(short).join(", ")}${truth}`);
  }
  const list = (labels) => (labels.length
    ? labels.flatMap((label, i) => [i ? ", " : "", own(names[label], "b")]) : ["no label"]);
  if (!doc.truth) return el("span", { class: "verdict" }, "predicted ", list(doc.predicted));
  if (!doc.wrong) return el("span", { class: "verdict right" }, "✓ ", list(doc.predicted));
  return el("span", { class: "verdict wrong" }, "✗ predicted ", list(doc.predicted), ", is ", list(doc.truth));
}

// What opens below a document: words that its text does not show, and reasons.
function moreOf(doc) {
  const out = [];
  if (doc.text !== undefined) {
    const found = new Set();
    colouredText(doc, Infinity, found);
    if (doc.words.some((word) => !found.has(data.words[word]))) {
      out.push(el("p", { class: "text small" }, "Words of the model that do not stand in the text as they are: ",
        colouredBag(doc, 60, found)));
    }
  }
  const sizes = doc.why.flatMap((why) => [why.parts, why.topics, why.words, why.own_words, why.covariates])
    .flatMap((list) => list.map(([, part]) => Math.abs(part)));
  const reach = Math.max(...sizes, 1e-9);
  if (doc.why.length) out.push(el("div", { class: "reasons" }, doc.why.map((why) => reason(why, reach))));
  return out;
}

const PART_NAMES = { base: "base", topics: "topics", words: "words by themselves", covariates: "covariates" };

// The parts of a score, which add up to it, and what each of them is made of.
function reason(why, reach) {
  const line = (name, part) => el("li", {}, name,
    el("span", { class: "push" }, el("span", { class: part < 0 ? "against" : "for",
      "--w": `${(50 * Math.abs(part)) / reach}%` })),
    el("span", { class: "figure" }, signed(part)));
  const list = (title, entries, shown) => entries.length > 0 && [el("h5", {}, title),
    el("ul", { class: "parts", "aria-label": `${title}, for and against` },
      entries.map(([name, part]) => line(shown(name), part)))];
  const word = (number) => own(data.words[number], "span", { class: "word" });
  return el("section", { class: "reason" },
    el("h4", {}, own(why.label), el("span", { class: "figure" }, signed(why.score))),
    why.parts.length > 1 && el("ul", { class: "parts sum", "aria-label": "Parts of the score" },
      why.parts.map(([name, part]) => line(el("span", { class: "word" }, PART_NAMES[name]), part))),
    ...[list("Topics", why.topics, (k) => topicChip(k)), list("Words through topics", why.words, word),
      list("Words by themselves", why.own_words, word),
      list("Covariates", why.covariates, (name) => own(name, "span", { class: "word" }))].filter(Boolean).flat());
}

function lead({ n, n_chains: nChains, shown }) {
  const parts = [shown.length === n ? `${count(n)} documents.`
    : `${count(shown.length)} of ${count(n)} documents, evenly spaced.`];
  parts.push(heldOutSentence());
  parts.push("Words have the colour of their most probable topic in the document.");
  if (data.models.length > 1) {
    parts.push(data.target.votes
      ? "Topics and reasons are those of the model of the two labels with the highest scores: votes have no reasons."
      : data.target.pairs ? "Topics are those of the model of the two labels with the highest scores."
        : "Topics are those of the model of the label with the highest score.");
  }
  if (data.target.refitted) {
    parts.push("Why: a score is the sum of its base, which any document has, of its topics, of its words by themselves"
      + (data.sections.covariates ? ", and of its covariates." : ".")
      + " The part of the topics is shown by topics, and again by the words in them.");
  }
  if (nChains > 1 && data.target.kind !== null) {
    parts.push(data.target.refitted ? "Topics are the best chain's; those of the others are in the base."
      : "Predictions are averaged over the chains, reasons are the best chain's.");
  }
  return parts.join(" ");
}

section("documents", { title: "Documents", lead, draw });
