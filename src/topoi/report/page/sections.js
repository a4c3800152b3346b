// A section shows itself: its title, its place in the navigation, a sentence or two, and what it draws.

const waiting = new Map();
const soon = []; // sections that are drawn as soon as the first one is on the screen

function drawNow(place) {
  const draw = waiting.get(place);
  waiting.delete(place);
  if (draw) draw();
}

// What is below the fold is drawn when it comes near.
const watcher = new IntersectionObserver((entries) => {
  for (const entry of entries) {
    if (!entry.isIntersecting) continue;
    watcher.unobserve(entry.target);
    drawNow(entry.target);
  }
}, { rootMargin: "800px 0px" });
window.addEventListener("beforeprint", () => { for (const place of [...waiting.keys()]) drawNow(place); });

// `lead` (may be left out) gives the sentences below the title; `draw` fills the empty element `body`. Both take what
// `data` of the section's Python file gave. One that is to be there `atOnce` does not wait until it comes near, but until
// the first section is on the screen: what people see first is not to wait for what they cannot see yet.
function section(name, { title, lead = () => "", draw, atOnce = false }) {
  const place = byId(name);
  const given = data.sections[name];
  const first = byId("nav").childElementCount === 0;
  place.hidden = false;
  byId(`${name}-title`).textContent = title;
  byId("nav").append(el("a", { href: `#${name}` }, title));
  byId(`${name}-lead`).textContent = lead(given);
  byId(`${name}-lead`).hidden = byId(`${name}-lead`).textContent === "";
  waiting.set(place, () => draw(byId(`${name}-body`), given));
  if (first) drawNow(place);
  else if (atOnce) soon.push(place);
  else watcher.observe(place);
}
