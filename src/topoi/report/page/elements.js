// Elements and numbers. Text goes in as text only, never as markup.

const SVG = "http://www.w3.org/2000/svg";

function put(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes || {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else if (name.startsWith("--")) node.style.setProperty(name, value);
    else node.setAttribute(name, value === true ? "" : value);
  }
  for (const child of children.flat()) {
    if (child === null || child === undefined || child === false) continue;
    node.append(child);
  }
  return node;
}

function el(tag, attributes, ...children) {
  return put(document.createElement(tag), attributes, children);
}

function svg(tag, attributes, ...children) {
  return put(document.createElementNS(SVG, tag), attributes, children);
}

function byId(id) {
  return document.getElementById(id);
}

// Gives the focus to one of several elements, for instance the first of those that a button has added.
function focusOn(place, selector, number) {
  const wanted = place.querySelectorAll(selector)[number];
  if (wanted) wanted.focus();
}

// Text of the user: its own direction, whatever stands around it.
function own(text, tag = "bdi", attributes = {}) {
  return el(tag, { dir: "auto", ...attributes }, text);
}

const whole = new Intl.NumberFormat("en", { maximumFractionDigits: 0 });

function count(value) {
  return whole.format(value);
}

// Tokens, which are averages over the samples.
function tokens(value) {
  return value >= 10 || Number.isInteger(value) ? count(value) : value.toFixed(1);
}

function percent(share) {
  const value = 100 * share;
  return (value >= 10 ? value.toFixed(0) : value >= 0.1 || value === 0 ? value.toFixed(1) : "< 0.1") + "\u2009%";
}

// A number in a few digits.
function short(value) {
  if (value === null || value === undefined) return "–";
  const size = Math.abs(value);
  if (size !== 0 && (size >= 1e7 || size < 1e-3)) return value.toExponential(1).replace("-", "−");
  const digits = size >= 1000 ? 0 : size >= 100 ? 1 : size >= 1 ? 2 : 3;
  return value.toLocaleString("en", { maximumFractionDigits: digits }).replace("-", "−");
}

function signed(value) {
  const digits = Math.abs(value) >= 10 ? 1 : 2;
  const text = Math.abs(value).toFixed(digits);
  return (Number(text) === 0 ? "" : value < 0 ? "−" : "+") + text;
}

// The same where there can be no element: marks that keep the direction of a text to itself.
function isolated(text) {
  return `\u2068${text}\u2069`;
}

// Names of topics that are shown follow what is edited.
onEdit(() => {
  for (const chip of document.querySelectorAll(".chip[data-topic]")) {
    const k = Number(chip.dataset.topic);
    const name = topicName(k);
    if (chip.title === name) continue;
    chip.title = name;
    chip.querySelector("bdi").textContent = name;
  }
});

// A button that names a topic and chooses it.
function topicChip(k, ...more) {
  return el("button", { type: "button", class: "chip", ...colour(k), "data-topic": k,
    title: topicName(k), onclick: () => choose(k) },
    el("span", { class: "dot" }), el("span", { class: "number" }, String(k)), own(topicName(k)), ...more);
}
