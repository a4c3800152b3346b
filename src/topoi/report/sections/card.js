// The model card as text, to be copied; folded, since the page shows what it says.

function draw(body, { markdown }) {
  const text = own(markdown, "pre");
  text.tabIndex = 0;
  body.append(el("details", {}, el("summary", {}, "Markdown to pass on with the model"), text));
}

section("card", { title: "Model card", draw });
