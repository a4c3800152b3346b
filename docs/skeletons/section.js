// A skeleton of a section: a table of the longest documents. Copy it to src/topoi/report/sections/<name>.js.
//
// What is defined here is this section's own. From page/ it takes `el` and `svg` (elements), `own` (an element for text
// of the user), `count`, `percent` and `short` (numbers), charts, and `data`, which all sections share.

function lead(documents) {
  return `The ${count(documents.length)} longest of the documents given. ${heldOutSentence()}`;
}

function draw(body, documents) {
  const row = ({ name, tokens }) => el("tr", {},
    el("th", { scope: "row" }, own(name)), el("td", { class: "figure" }, count(tokens)));
  body.append(el("table", { class: "plain" },
    el("thead", {}, el("tr", {}, ["document", "tokens"].map((name) => el("th", { scope: "col" }, name)))),
    el("tbody", {}, documents.map(row))));
}

section("longest", { title: "Longest", lead, draw });
