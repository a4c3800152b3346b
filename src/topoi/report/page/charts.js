// Two plain charts, lines and points, in SVG.

// As wide as the screen allows, so that its text is as large as other text.
const WIDE = Math.min(640, Math.max(document.documentElement.clientWidth - 32, 280));
const HIGH = 260;
const EDGE = { left: 64, right: 14, top: 12, bottom: 30 };

// Round steps from a to b, about n of them.
function ticks(a, b, n) {
  if (!(b > a)) return [a];
  const rough = (b - a) / n;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((m) => m * power).find((s) => s >= rough);
  const out = [];
  for (let v = Math.ceil(a / step) * step; v <= b + step * 1e-9; v += step) out.push(Math.abs(v) < step / 1e6 ? 0 : v);
  return out;
}

function axisNumber(value, step) {
  const size = Math.abs(value);
  const unit = size >= 1e6 ? [1e6, "M"] : size >= 1e4 ? [1e3, "k"] : [1, ""];
  const digits = Math.min(Math.max(0, -Math.floor(Math.log10((step || 1) / unit[0]) + 1e-9)), 6);
  return (value / unit[0]).toFixed(digits).replace("-", "−") + unit[1];
}

function frame(xs, ys, xName, label) {
  const [x0, x1] = widen(xs);
  const [y0, y1] = widen(ys);
  const px = (x) => EDGE.left + ((x - x0) / (x1 - x0)) * (WIDE - EDGE.left - EDGE.right);
  const py = (y) => HIGH - EDGE.bottom - ((y - y0) / (y1 - y0)) * (HIGH - EDGE.top - EDGE.bottom);
  const root = svg("svg", { viewBox: `0 0 ${WIDE} ${HIGH}`, class: "chart", role: "img", "aria-label": label });
  const yTicks = ticks(y0, y1, 4);
  for (const y of yTicks) {
    root.append(svg("line", { x1: EDGE.left, x2: WIDE - EDGE.right, y1: py(y), y2: py(y), class: "grid" }),
      svg("text", { x: EDGE.left - 8, y: py(y) + 4, "text-anchor": "end" }, axisNumber(y, yTicks[1] - yTicks[0])));
  }
  const xTicks = ticks(x0, x1, WIDE / 90);
  for (const x of xTicks) {
    root.append(svg("text", { x: px(x), y: HIGH - 10, "text-anchor": "middle" }, axisNumber(x, xTicks[1] - xTicks[0])));
  }
  return { root, px, py, x0, x1, y0, y1, xName };
}

function widen(values) {
  let low = Infinity;
  let high = -Infinity;
  for (const value of values) {
    if (value < low) low = value;
    if (value > high) high = value;
  }
  if (!(high >= low)) return [0, 1];
  if (high === low) return [low - (Math.abs(low) || 1) * 0.05, high + (Math.abs(high) || 1) * 0.05];
  return [low - (high - low) * 0.03, high + (high - low) * 0.03];
}

// Lines [{name, sweep, value}], with the burn-in shaded.
function lineChart(lines, label, burnIn) {
  const usable = lines.filter((line) => line.value.some((value) => value !== null));
  const f = frame(usable.flatMap((line) => line.sweep), usable.flatMap((line) => line.value.filter((v) => v !== null)),
    "sweep", label);
  if (burnIn && burnIn > f.x0) {
    const end = f.px(Math.min(burnIn, f.x1));
    f.root.prepend(svg("rect", { x: EDGE.left, y: EDGE.top, width: Math.max(end - EDGE.left, 0),
      height: HIGH - EDGE.top - EDGE.bottom, class: "burn-in" }));
    if (end - EDGE.left > 60) {
      f.root.append(svg("text", { x: end - 6, y: HIGH - EDGE.bottom - 8, "text-anchor": "end" }, "burn-in"));
    }
  }
  usable.forEach((line, i) => {
    const points = line.sweep.map((x, j) => [x, line.value[j]]).filter(([, y]) => y !== null);
    const path = points.map(([x, y], j) => `${j ? "L" : "M"}${f.px(x).toFixed(1)},${f.py(y).toFixed(1)}`).join("");
    f.root.append(svg("path", { d: path, class: "curve", "--h": (i * 137.508 + 250) % 360 },
      svg("title", {}, line.name)));
  });
  return f.root;
}

// Predicted against true, with the line where they agree.
function scatter(xs, ys, label) {
  const f = frame([...xs, ...ys], [...xs, ...ys], "true", label);
  f.root.append(svg("line", { x1: f.px(f.x0), y1: f.py(f.x0), x2: f.px(f.x1), y2: f.py(f.x1), class: "diagonal" }));
  xs.forEach((x, j) => f.root.append(
    svg("circle", { cx: f.px(x).toFixed(1), cy: f.py(ys[j]).toFixed(1), r: 2.6, class: "mark" })));
  return f.root;
}
