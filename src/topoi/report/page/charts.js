// Plain charts in SVG: lines, points, and shares of a topic over time.

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

// Shares of a topic over a column of dates or numbers in a box of pixels: a line with its band, broken where a period
// has no documents. `there` are the groups that have a place, `px` and `py` say where a value is.
function shareCurve(topic, column, unit, box) {
  const there = column.at.map((_, g) => g).filter((g) => column.at[g] !== null);
  const xs = there.map((g) => column.at[g]);
  const x0 = Math.min(...xs);
  const x1 = Math.max(...xs) > x0 ? Math.max(...xs) : x0 + 1;
  // The wide band of a period with hardly any documents may be cut off, so that the others can be seen.
  const sizes = column.documents.slice().sort((a, b) => a - b);
  const many = (g) => column.documents[g] >= sizes[Math.floor(sizes.length / 2)] / 4;
  const highest = Math.max(...there.map((g) => (many(g) ? topic.high[g] : topic.share[g])), 1) / unit;
  const px = (x) => box.left + ((x - x0) / (x1 - x0)) * (box.wide - box.left - box.right);
  const py = (y) => Math.max(box.high - box.bottom - (y / highest) * (box.high - box.top - box.bottom), Math.max(box.top - 4, 0));
  const at = (g, values) => `${px(column.at[g]).toFixed(1)},${py(values[g] / unit).toFixed(1)}`;
  const parts = [];
  there.forEach((g, j) => {
    if (j === 0 || column.runs[g] - column.runs[there[j - 1]] > 1) parts.push([]);
    parts[parts.length - 1].push(g);
  });
  const curve = parts.flatMap((part) => {
    const alone = part.length === 1;
    const upper = part.map((g) => at(g, topic.high));
    const lower = part.map((g) => at(g, topic.low)).reverse();
    const band = svg("path", { d: `M${[...upper, ...lower].join("L")}Z`, class: alone ? "band alone" : "band",
      ...colour(topic.topic) });
    const line = alone
      ? svg("circle", { cx: px(column.at[part[0]]).toFixed(1), cy: py(topic.share[part[0]] / unit).toFixed(1), r: 2.5,
        class: "spot", ...colour(topic.topic) })
      : svg("path", { d: `M${part.map((g) => at(g, topic.share)).join("L")}`, class: "curve", ...colour(topic.topic) });
    return [band, line];
  });
  return { there, highest, px, py, curve };
}
