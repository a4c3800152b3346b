// Edits of the topics: what was asked for, kept in this browser where it lets us, and written as `topoi apply` reads it.
// Numbers are those of the topics as they are on this page, whatever was edited.

const EDITS_KEY = `topoi edits ${data.fingerprint}`;
const editListeners = [];
const wished = { names: new Map(), hidden: new Map(), split: new Set(), into: new Map(), order: null };
const before = []; // what undo goes back to

function onEdit(listener) {
  editListeners.push(listener);
}

function isHidden(k) {
  return wished.hidden.has(k) ? wished.hidden.get(k) : hiddenBefore.has(k);
}

function nameOf(k) {
  return wished.names.has(k) ? wished.names.get(k) : topics[k].name;
}

// The topic that k has become part of: itself, unless it was merged.
function headOf(k) {
  return wished.into.has(k) ? wished.into.get(k) : k;
}

// A topic and all that was merged into it.
function groupOf(k) {
  const group = [k];
  for (const [part, head] of wished.into) if (head === k) group.push(part);
  return group;
}

// Topics of labels are known to documents by their numbers: they cannot be merged, split or moved.
function isBound(k) {
  return k - topics.findIndex((topic) => topic.model === topics[k].model) < data.models[topics[k].model].n_bound;
}

function entries() {
  const out = [];
  for (const [k, name] of wished.names) if (name !== topics[k].name) out.push({ edit: "name", topic: k, name });
  for (const head of new Set(wished.into.values())) out.push({ edit: "merge", topics: groupOf(head) });
  for (const [k, hidden] of wished.hidden) {
    if (hidden !== hiddenBefore.has(k)) out.push({ edit: hidden ? "hide" : "show", topic: k });
  }
  for (const k of wished.split) out.push({ edit: "split", topic: k });
  if (wished.order) out.push({ edit: "order", topics: wished.order.filter((k) => headOf(k) === k && !isBound(k)) });
  return out;
}

function editsAsText() {
  const head = { format: "topoi edits", version: 1, topics: topics.length, model: data.fingerprint };
  const lines = entries().map((entry) => `  ${JSON.stringify(entry)}`);
  const opening = JSON.stringify(head).slice(0, -1);
  return `${opening}, "edits": [\n${lines.join(",\n")}\n]}\n`;
}

function setEntries(list) {
  wished.names.clear();
  wished.hidden.clear();
  wished.split.clear();
  wished.into.clear();
  wished.order = null;
  for (const entry of list) {
    if (entry.edit === "name") wished.names.set(entry.topic, entry.name);
    else if (entry.edit === "merge") for (const k of entry.topics.slice(1)) wished.into.set(k, entry.topics[0]);
    else if (entry.edit === "split") wished.split.add(entry.topic);
    else if (entry.edit === "order") wished.order = [...entry.topics];
    else wished.hidden.set(entry.topic, entry.edit === "hide");
  }
  if (wished.order) wished.order.push(...topics.map((_, k) => k).filter((k) => !wished.order.includes(k)));
}

// What is wrong with the text of a file of edits; null if it will do.
function faultOfEdits(text) {
  let found;
  try {
    found = JSON.parse(text);
  } catch {
    return "This file is not JSON.";
  }
  if (!found || found.format !== "topoi edits" || found.version !== 1 || !Array.isArray(found.edits)) {
    return "This is not a file of edits that this page can read.";
  }
  if (found.model !== undefined && found.model !== data.fingerprint) return "These edits are for another model.";
  const isTopic = (k) => Number.isInteger(k) && k >= 0 && k < topics.length;
  const fits = { name: (entry) => isTopic(entry.topic) && typeof entry.name === "string",
    merge: (entry) => Array.isArray(entry.topics) && entry.topics.length > 1 && entry.topics.every(isTopic),
    order: (entry) => Array.isArray(entry.topics) && entry.topics.every(isTopic),
    hide: (entry) => isTopic(entry.topic), show: (entry) => isTopic(entry.topic), split: (entry) => isTopic(entry.topic) };
  const bad = found.edits.findIndex((entry) => !entry || !Object.hasOwn(fits, entry.edit) || !fits[entry.edit](entry));
  if (bad >= 0) return `Entry ${bad} of this file cannot be: there is no such edit or topic.`;
  const merged = found.edits.filter((entry) => entry.edit === "merge").flatMap((entry) => entry.topics);
  const twice = merged.find((k, i) => merged.indexOf(k) < i);
  return twice === undefined ? null : `Topic ${twice} stands in this file twice, to be merged.`;
}

// Carry out a change, which can be undone, and tell everyone.
function edit(change) {
  before.push(JSON.stringify(entries()));
  change();
  told();
}

function undo() {
  if (before.length === 0) return;
  setEntries(JSON.parse(before.pop()));
  told();
}

function told() {
  named.clear();
  try {
    if (entries().length) localStorage.setItem(EDITS_KEY, JSON.stringify(entries()));
    else localStorage.removeItem(EDITS_KEY);
  } catch {
    // A browser that keeps nothing: the download is what counts.
  }
  for (const listener of editListeners) listener();
}

// Edits of an earlier visit.
function remembered() {
  try {
    const text = localStorage.getItem(EDITS_KEY);
    if (text === null || faultOfEdits(`{"format":"topoi edits","version":1,"edits":${text}}`) !== null) return;
    setEntries(JSON.parse(text));
  } catch {
    // As above.
  }
}

remembered();
