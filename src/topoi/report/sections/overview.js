// All topics as cards, to read at a glance and to edit.

const CARDS = 48;
const CARD_WORDS = 12;
const TYPICAL = 3;
const SNIPPET_OF_CARD = 110;
const HEADER = /^[A-Za-z][A-Za-z0-9-]{1,40}: |^[ ]+\S/u; // of a message, or a line that goes on with one
// Tags of HTML, which a card has no room for; other text in angle brackets stays.
const MARKUP = /<\/?[a-z][a-z0-9]*(?:\s+[\w:-]+(?:\s*=\s*(?:"[^"]*"|'[^']*'|[^\s"'<>]+))?)*\s*\/?>/giu;
const ENTITY = /&(?:#\d{1,7}|#x[\da-f]{1,6}|[a-z][a-z\d]{1,30});/giu;
const STRONGEST = 3; // groups of a column
const MOST_COLUMNS = 4; // of which a card tells
const SPARK = { wide: 88, high: 24, left: 2, right: 2, top: 3, bottom: 2 };

function draw(body, { similar, coherence, labels }) {
  const { trust } = data.sections.topics;
  const facts = { coherence, labels, trust, documents: typicalDocuments(), columns: columnsByTopic() };
  const orders = {
    share: ["largest first", () => order],
    similar: ["similar side by side", () => similar],
    number: ["by number", () => [...order].sort((a, b) => a - b)],
  };
  if (coherence) orders.coherence = ["most coherent first", () => [...order].sort((a, b) =>
    (coherence[b] === null ? -2 : coherence[b]) - (coherence[a] === null ? -2 : coherence[a]))];
  if (trust.length) orders.trust = ["surest first", () => [...order].sort((a, b) =>
    trust[b].found_in - trust[a].found_in || (trust[b].agreement || 0) - (trust[a].agreement || 0))];
  const sort = el("select", { id: "card-order" });
  const find = el("input", { type: "search", id: "card-find", placeholder: "filter by a word or a name …",
    autocomplete: "off", spellcheck: "false", dir: "auto" });
  const editing = el("button", { type: "button", class: "more", id: "edit", "aria-pressed": "false" }, "Edit topics");
  const status = el("p", { class: "status", id: "cards-status", role: "status" });
  const grid = el("div", { class: "cards", id: "cards" });
  const more = el("button", { type: "button", class: "more", id: "more-cards" });
  const bench = editBench(status, () => refresh());
  body.append(el("div", { class: "tools" },
    el("label", { class: "grow" }, el("span", { class: "hidden" }, "Filter topics"), find),
    el("label", {}, el("span", { class: "hidden" }, "Order"), sort), editing),
  bench.bar, status, grid, more);

  let shown = CARDS;
  let picked = null; // an order that was asked for, not made by hand
  const fillOrders = () => {
    const names = Object.entries(orders).map(([key, [name]]) => [key, name]);
    if (wished.order) names.push(["own", "in your order"]);
    const value = wished.order && picked === null ? "own" : picked || "share";
    sort.replaceChildren(...names.map(([key, name]) => el("option", { value: key }, `Order: ${name}`)));
    sort.value = value;
  };
  const listed = () => {
    const base = sort.value === "own" ? wished.order.filter((k) => rank[k] < order.length) : orders[sort.value][1]();
    const all = bench.on ? [...base, ...leftOut] : base;
    const text = find.value.trim().toLowerCase();
    const having = text === "" ? null : new Set(topicsWith(text).map(headOf));
    return all.filter((k) => headOf(k) === k
      && (having === null || having.has(k) || nameOf(k).toLowerCase().includes(text)));
  };
  // A name that was typed is taken when the field is left, often by a press on another card's button. That button must
  // stay until it is let go of, or nothing would be clicked: cards are drawn anew after that.
  let pressed = false;
  let late = false;
  const refresh = () => {
    late = pressed;
    if (pressed) return;
    fillOrders();
    const focus = document.activeElement && grid.contains(document.activeElement)
      ? [document.activeElement.closest("[data-card]").dataset.card, document.activeElement.dataset.act] : null;
    const list = listed();
    const place = new Map(list.map((k, i) => [k, i]));
    grid.replaceChildren(...list.slice(0, shown).map((k) => topicCard(k, facts, bench, place)));
    more.hidden = list.length <= shown;
    more.textContent = `Show more of ${count(list.length)} topics`;
    bench.refresh();
    if (focus) {
      const card = grid.querySelector(`[data-card="${focus[0]}"]`);
      const same = card && (card.querySelector(`[data-act="${focus[1]}"]:enabled`) || card.querySelector("[data-act]:enabled"));
      if (same) same.focus();
    }
  };
  bench.place = (k, to) => {
    const list = listed();
    if (find.value.trim() !== "") {
      status.textContent = "Clear the filter to move topics.";
      return;
    }
    const from = list.indexOf(k);
    const target = Math.min(Math.max(to, 0), list.length - 1);
    if (target === from) return;
    edit(() => {
      const moved = list.filter((other) => other !== k);
      moved.splice(target, 0, k);
      const rest = topics.map((_, other) => other).filter((other) => !moved.includes(other));
      wished.order = [...moved, ...rest];
      picked = null;
    });
    status.textContent = `Topic ${k} is at place ${target + 1} now.`;
  };
  sort.addEventListener("change", () => {
    picked = sort.value === "own" ? null : sort.value;
    refresh();
  });
  find.addEventListener("input", refresh);
  more.addEventListener("click", () => {
    const first = grid.childElementCount;
    shown += 4 * CARDS;
    refresh();
    grid.children[first].querySelector("button").focus();
  });
  editing.addEventListener("click", () => {
    bench.on = !bench.on;
    editing.setAttribute("aria-pressed", String(bench.on));
    editing.textContent = bench.on ? "Done editing" : "Edit topics";
    refresh();
  });
  onEdit(refresh);
  const release = () => setTimeout(() => {
    pressed = false;
    if (late) refresh();
  });
  for (const press of ["pointerdown", "mousedown"]) grid.addEventListener(press, () => { pressed = true; });
  for (const end of ["pointerup", "pointercancel", "mouseup", "dragend"]) window.addEventListener(end, release);
  window.addEventListener("click", () => { pressed = false; }, true);
  onChoice((k) => {
    for (const on of grid.querySelectorAll(".card.on")) on.classList.remove("on");
    const card = grid.querySelector(`[data-card="${headOf(k)}"]`);
    if (card) card.classList.add("on");
  });
  refresh();
  if (entries().length) status.textContent = "Your edits from an earlier visit are here again.";
}

// Of every topic the documents with the largest shares of it.
function typicalDocuments() {
  const best = topics.map(() => []);
  const given = data.sections.documents;
  if (!given) return best;
  for (const doc of given.shown) {
    doc.topics.forEach((k, j) => best[k].push([doc.shares[j], doc]));
  }
  return best.map((list) => list.sort((a, b) => b[0] - a[0]).slice(0, TYPICAL));
}

// The columns that topics were grouped by, with the shares of every topic that they tell of.
function columnsByTopic() {
  const given = data.sections.groups;
  if (!given) return [];
  return given.columns.slice(0, MOST_COLUMNS)
    .map((column) => ({ column, unit: given.unit, byTopic: new Map(column.topics.map((topic) => [topic.topic, topic])) }));
}

// How a topic varies: a small line for time or a number, else the groups that surely have more of it than all documents.
function varying(topic, column, unit) {
  if (column.kind === "categories") {
    const strong = column.groups.map((_, g) => g).filter((g) => topic.low[g] / unit > topic.overall)
      .sort((a, b) => topic.share[b] - topic.share[a]).slice(0, STRONGEST);
    return strong.length > 0 && el("p", { class: "facts strongest" }, own(column.name), ": most in ",
      strong.flatMap((g, i) => [i ? ", " : "", own(column.groups[g], "b"), ` ${percent(topic.share[g] / unit)}`]));
  }
  const { there, curve } = shareCurve(topic, column, unit, SPARK);
  if (there.length < 2) return false;
  const best = there.reduce((a, b) => (topic.share[b] > topic.share[a] ? b : a));
  const [first, last] = [there[0], there[there.length - 1]];
  const told = (g) => `${isolated(column.groups[g])}: ${percent(topic.share[g] / unit)}`;
  return el("p", { class: "facts trend", title: `${told(first)}; ${told(last)}` },
    svg("svg", { viewBox: `0 0 ${SPARK.wide} ${SPARK.high}`, class: "spark", role: "img",
      "aria-label": `Share over ${column.name}, from ${told(first)} to ${told(last)}` }, curve),
    el("span", {}, own(column.name), ": highest in ", own(column.groups[best], "b"), ` ${percent(topic.share[best] / unit)}`));
}

// A message begins with what nobody looks for here: of its headers only the subject is shown.
function withoutHeaders(text) {
  const lines = text.trimStart().split(/[\n\t]/u);
  const end = lines.findIndex((line) => !HEADER.test(line));
  const headers = end < 0 ? lines : lines.slice(0, end);
  if (headers.length < 2 || !headers.some((line) => /^(from|subject):/iu.test(line))) return text;
  const subject = headers.find((line) => /^subject:/iu.test(line)) || "";
  return `${subject.slice("subject:".length).trim()} ${lines.slice(headers.length).join(" ")}`;
}

// What an entity of HTML stands for. The document that is made of it is never shown, and has no markup in it.
function character(entity) {
  return new DOMParser().parseFromString(entity, "text/html").documentElement.textContent;
}

function snippet(doc) {
  const text = doc.text === undefined
    ? doc.words.map((word, j) => [doc.counts[j], data.words[word]]).sort((a, b) => b[0] - a[0]).slice(0, 14)
      .map(([, word]) => word).join(" ")
    : withoutHeaders(doc.text.slice(0, 1200)).slice(0, 400).replace(MARKUP, " ").replace(ENTITY, character)
      .replace(/\s+/gu, " ").trim();
  return text.length > SNIPPET_OF_CARD ? `${text.slice(0, SNIPPET_OF_CARD)}…` : text;
}

function topicCard(k, facts, bench, place) {
  const group = groupOf(k);
  const share = group.reduce((sum, part) => sum + topics[part].share, 0);
  const largest = topics[order[0]].share || 1;
  const name = nameOf(k);
  const hidden = isHidden(k);
  const words = tellingWords(k, CARD_WORDS);
  const most = Math.max(...words.map((entry) => entry.here), 1e-9);
  const title = el("button", { type: "button", class: "card-title", "data-act": "choose", title: `Choose topic ${k}`,
    onclick: () => choose(k) }, el("span", { class: "dot" }), el("span", { class: "number" }, String(k)),
  name ? own(name, "b") : own(words.slice(0, 2).map((entry) => data.words[entry.word]).join(" ") || "(no words)", "b",
    { class: "unnamed" }));
  const said = [];
  if (group.length > 1) said.push(`merged of ${group.length} topics: ${group.join(", ")}`);
  if (wished.split.has(k)) said.push("to be split in two");
  if (hidden) said.push("hidden");
  if (group.length === 1 && facts.coherence && facts.coherence[k] !== null) said.push(`coherence ${signed(facts.coherence[k])}`);
  if (group.length === 1 && facts.trust.length) said.push(`found in ${facts.trust[k].found_in} of ${facts.trust[k].n_chains} chains`);
  const speaks = facts.labels && group.length === 1 ? facts.labels[k] : [];
  const documents = group.flatMap((part) => facts.documents[part]).sort((a, b) => b[0] - a[0]).slice(0, TYPICAL);
  return el("article", { class: `card${k === headOf(chosen) ? " on" : ""}${hidden ? " off" : ""}`, "data-card": k,
    ...colour(k) },
  el("header", {}, title, el("span", { class: "share" }, percent(share))),
  el("div", { class: "meter", "aria-hidden": "true" }, el("span", { "--w": `${Math.min(100, (100 * share) / largest)}%` })),
  !(hidden && !bench.on) && el("p", { class: "card-words" }, words.flatMap((entry) => [
    own(data.words[entry.word], "span", { "--e": (0.82 + 0.3 * Math.sqrt(entry.here / most)).toFixed(2) }), " "])),
  said.length > 0 && el("p", { class: "facts" }, said.join(" · ")),
  speaks.length > 0 && el("p", { class: "facts" }, "speaks for ", speaks.flatMap(([label, weight], i) =>
    [i ? ", " : "", own(label, "b"), ` ${signed(weight)}`])),
  group.length === 1 && facts.columns.map(({ column, unit, byTopic }) =>
    byTopic.has(k) && varying(byTopic.get(k), column, unit)),
  documents.length > 0 && !bench.on && el("ol", { class: "typical", "aria-label": `Typical documents of topic ${k}` },
    documents.map(([part, doc]) => el("li", { title: `${doc.id}, ${percent(part)} of it` }, own(snippet(doc), "span"),
      el("span", { class: "share" }, percent(part))))),
  bench.on && bench.controls(k, place.get(k)));
}

// What edits topics: a bar for all of them, and controls for each card.
function editBench(status, refresh) {
  const selected = new Set();
  const act = (name, text, label, onclick, more = {}) => el("button", { type: "button", class: "act", "data-act": name,
    "aria-label": label, title: label, onclick, ...more }, text);
  const merge = act("merge", "Merge", "Merge the ticked topics", () => {
    const list = [...selected];
    if (new Set(list.map((k) => topics[k].model)).size > 1) {
      status.textContent = "Only topics of one model can be merged.";
      return;
    }
    if (list.some((k) => wished.split.has(k))) {
      status.textContent = "A topic that is to be split cannot be merged.";
      return;
    }
    // The largest of them keeps its place; it takes what was said of the others.
    const head = list.reduce((a, b) => (topics[b].share > topics[a].share ? b : a));
    edit(() => {
      const name = [head, ...list].map(nameOf).find(Boolean) || "";
      for (const k of list.filter((other) => other !== head)) {
        for (const part of groupOf(k)) wished.into.set(part, head);
        for (const said of [wished.names, wished.hidden]) said.delete(k);
      }
      if (name !== nameOf(head)) wished.names.set(head, name);
      selected.clear();
    });
    status.textContent = `${list.length} topics are merged into topic ${head}.`;
  });
  const back = act("undo", "Undo", "Undo the last edit", () => { undo(); status.textContent = "Undone."; });
  const discard = act("discard", "Discard all", "Discard all edits", () => {
    edit(() => setEntries([]));
    status.textContent = "All edits are discarded; Undo brings them back.";
  });
  const download = act("download", "Download edits", "Download the edits as a file", () => {
    const url = URL.createObjectURL(new Blob([editsAsText()], { type: "application/json" }));
    const link = el("a", { href: url, download: "edits.json" });
    link.click();
    setTimeout(() => URL.revokeObjectURL(url), 10_000);
    status.textContent = "Written to edits.json. Next: topoi apply MODEL edits.json -o MODEL2";
  });
  const file = el("input", { type: "file", class: "hidden", id: "edits-file", accept: ".json,application/json",
    "aria-label": "File of edits to open", tabindex: "-1", onchange: async () => {
      if (!file.files.length) return;
      const text = await file.files[0].text();
      file.value = "";
      const fault = faultOfEdits(text);
      if (fault === null) edit(() => setEntries(JSON.parse(text).edits));
      status.textContent = fault === null ? "The edits of the file are shown." : fault;
    } });
  const open = act("open", "Open edits …", "Open a file of edits", () => file.click());
  const bar = el("div", { class: "tools bench", role: "toolbar", "aria-label": "Edit topics", hidden: true },
    merge, back, download, discard, open, file);

  const bench = { on: false, bar, place: null };
  bench.refresh = () => {
    for (const k of [...selected]) if (headOf(k) !== k) selected.delete(k);
    const n = entries().length;
    bar.hidden = !bench.on;
    merge.disabled = selected.size < 2;
    merge.textContent = selected.size ? `Merge ${selected.size}` : "Merge";
    back.disabled = before.length === 0;
    discard.disabled = n === 0;
    download.disabled = n === 0;
    download.textContent = n ? `Download ${n} edit${n === 1 ? "" : "s"}` : "Download edits";
  };
  bench.controls = (k, at) => {
    const bound = isBound(k);
    const group = groupOf(k);
    const rename = (event) => {
      const name = event.target.value.trim().replace(/\s+/gu, " ").slice(0, 200);
      if (name === nameOf(k)) return;
      if (name && topics.some((_, other) => other !== k && headOf(other) === other && nameOf(other) === name)) {
        status.textContent = `Another topic has the name ${isolated(name)} already.`;
        event.target.value = nameOf(k);
        return;
      }
      edit(() => wished.names.set(k, name));
      status.textContent = name ? `Topic ${k} is called ${isolated(name)} now.` : `Topic ${k} has no name now.`;
    };
    return el("div", { class: "controls" },
      el("label", { class: "wide" }, el("span", { class: "hidden" }, `Name of topic ${k}`),
        el("input", { type: "text", value: nameOf(k), placeholder: "name …", maxlength: 200, dir: "auto", "data-act": "name",
          autocomplete: "off", onchange: rename })),
      el("label", { class: "check" }, el("input", { type: "checkbox", "data-act": "tick", checked: selected.has(k),
        disabled: bound, "aria-label": `Tick topic ${k} to merge it`, onchange: (event) => {
          if (event.target.checked) selected.add(k);
          else selected.delete(k);
          bench.refresh();
        } }), " merge"),
      group.length > 1 && act("unmerge", "Take apart", `Take the merged topic ${k} apart`, () => edit(() => {
        for (const part of group.slice(1)) {
          wished.into.delete(part);
          if (nameOf(part) && nameOf(part) === nameOf(k)) wished.names.delete(k); // which it had from this part
        }
      })),
      act("hide", isHidden(k) ? "Show" : "Hide", `${isHidden(k) ? "Show" : "Hide"} topic ${k}`,
        () => edit(() => wished.hidden.set(k, !isHidden(k)))),
      group.length === 1 && act("split", wished.split.has(k) ? "Keep whole" : "Split",
        wished.split.has(k) ? `Do not split topic ${k}` : `Split topic ${k} in two`, () => edit(() => {
          if (!wished.split.delete(k)) wished.split.add(k);
        }), { disabled: bound }),
      el("span", { class: "place" },
        act("earlier", "↑", `Move topic ${k} one place earlier`, () => bench.place(k, at - 1),
          { disabled: bound || at === 0 }),
        el("input", { type: "number", min: 1, value: at + 1, "data-act": "place", disabled: bound,
          "aria-label": `Place of topic ${k}`, title: "Place",
          onchange: (event) => bench.place(k, Math.round(Number(event.target.value)) - 1) }),
        act("later", "↓", `Move topic ${k} one place later`, () => bench.place(k, at + 1), { disabled: bound })));
  };
  return bench;
}

function lead({ coherence }) {
  const said = ["Every topic with its words, the most telling first."];
  if (coherence) said.push("Coherence is the NPMI of ten words in the documents given: above 0 they occur together.");
  said.push("Names, merges and other corrections made here become a file for topoi apply.");
  return said.join(" ");
}

section("overview", { title: "At a glance", lead, draw });
