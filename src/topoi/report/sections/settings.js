// Settings, sizes and versions as three lists.

function draw(body, { parameters, sizes, versions }) {
  body.classList.add("three");
  body.append(...[["Parameters", parameters], ["Sizes", sizes], ["Versions", versions]].map(([name, pairs]) =>
    el("div", {}, el("h3", {}, name), el("dl", { class: "pairs" },
      pairs.map(([key, value]) => el("div", {}, el("dt", {}, key), own(value, "dd")))))));
}

section("settings", { title: "Settings", draw });
