// Settings, sizes and versions as three lists, below what was left out of the texts.

function draw(body, { parameters, sizes, versions }) {
  body.classList.add("three");
  body.append(...[["Parameters", parameters], ["Sizes", sizes], ["Versions", versions]].map(([name, pairs]) =>
    el("div", {}, el("h3", {}, name), el("dl", { class: "pairs" },
      pairs.map(([key, value]) => el("div", {}, el("dt", {}, key), own(value, "dd")))))));
}

function lead({ left_out: sentences }) {
  return sentences.length ? `Of the texts that the model learned from: ${sentences.join(" ")}` : "";
}

section("settings", { title: "Settings", lead, draw });
