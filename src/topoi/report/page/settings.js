// Settings, sizes and versions as three lists.

function drawSettings() {
  const { parameters, sizes, versions } = data.settings;
  byId("settings-body").append(
    ...[["Parameters", parameters], ["Sizes", sizes], ["Versions", versions]].map(([name, pairs]) =>
      el("div", {}, el("h3", {}, name), el("dl", { class: "pairs" },
        pairs.map(([key, value]) => el("div", {}, el("dt", {}, key), own(value, "dd")))))));
}
