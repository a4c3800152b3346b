// What all sections share: the topics and their names, the chosen one, and who wants to know of it.

const data = JSON.parse(document.getElementById("data").textContent);
const topics = data.topics;
// Topics that the model hides are left out of all lists, unless there are no others.
const hiddenBefore = new Set(data.hidden);
const byShare = topics.map((_, k) => k).sort((a, b) => topics[b].share - topics[a].share || a - b);
const leftOut = hiddenBefore.size < topics.length ? byShare.filter((k) => hiddenBefore.has(k)) : [];
// Topics from the most frequent to the rarest: the order of the arrow keys and of the list.
const order = leftOut.length ? byShare.filter((k) => !hiddenBefore.has(k)) : byShare;
const rank = [];
[...order, ...leftOut].forEach((k, place) => { rank[k] = place; });

let chosen = order[0];
const listeners = [];

function onChoice(listener) {
  listeners.push(listener);
}

function choose(k) {
  if (k === chosen) return;
  chosen = k;
  for (const listener of listeners) listener(k);
}

// The topic `steps` places on from the chosen one, without going round.
function neighbour(steps) {
  return order[Math.min(Math.max(rank[chosen] + steps, 0), order.length - 1)];
}

// Colours a golden angle apart, in three shades: whatever the number of topics, those that are frequent differ well.
function colour(k) {
  return { "--h": ((rank[k] * 137.508 + 250) % 360).toFixed(1), "--d": [0, -0.13, 0.09][Math.floor(rank[k] / 9) % 3] };
}

let having = null;

// The topics among whose words there is one that begins with `text`, those first that have most of its tokens.
function topicsWith(text) {
  if (having === null) {
    having = new Map();
    topics.forEach((topic, k) => topic.words.forEach((word, j) => {
      if (!having.has(word)) having.set(word, []);
      having.get(word).push([k, topic.counts[j] / data.models[topic.model].n_samples]);
    }));
  }
  const tokens = new Map();
  const wanted = text.toLowerCase();
  for (const [word, places] of having) {
    if (!data.words[word].toLowerCase().startsWith(wanted)) continue;
    for (const [k, n] of places) tokens.set(k, (tokens.get(k) || 0) + n);
  }
  return [...tokens].sort((a, b) => b[1] - a[1] || a[0] - b[0]).map(([k]) => k);
}

// The words of a topic, with those merged into it, by relevance λ ln φ + (1 − λ) ln(φ/p), the best n.
function relevantWords(k, lambda, n) {
  const group = groupOf(k);
  const model = data.models[topics[k].model];
  const all = group.reduce((sum, part) => sum + topics[part].tokens, 0);
  const scale = 1 / (all + model.beta_sum);
  const found = new Map();
  for (const part of group) {
    const topic = topics[part];
    topic.words.forEach((word, j) => {
      const entry = found.get(word) || { word, here: 0, all: topic.overall[j], beta: topic.betas ? topic.betas[j] : model.beta };
      entry.here += topic.counts[j] / model.n_samples;
      found.set(word, entry);
    });
  }
  const scored = [...found.values()];
  for (const entry of scored) {
    entry.relevance = Math.log((entry.here + entry.beta) * scale) - (1 - lambda) * Math.log(entry.all / model.tokens);
  }
  scored.sort((a, b) => b.relevance - a.relevance);
  return scored.slice(0, n);
}

// The words that a topic is shown by, the best n: those of `top_words`, or of merged topics the most relevant.
function tellingWords(k, n) {
  if (groupOf(k).length > 1) return relevantWords(k, 0.6, n);
  const topic = topics[k];
  const samples = data.models[topic.model].n_samples;
  return topic.telling.slice(0, n).map((j) => ({ word: topic.words[j], here: topic.counts[j] / samples }));
}

const named = new Map();

// The name that a topic was given, and a few words that tell it from others; where there is room for one word, one.
function topicName(k, n = 3) {
  if (!named.has(k)) named.set(k, tellingWords(k, 3).map((entry) => data.words[entry.word]));
  const words = named.get(k).slice(0, n).join(" ") || "(no words)";
  const name = nameOf(k);
  return name ? (n === 1 ? name : `${name}: ${words}`) : words;
}

// What the documents given are to the model: a sentence beside everything that is said of them.
function heldOutSentence() {
  if (data.held_out === true) return "The model has not learned from them (held out).";
  if (data.held_out === false) return "The model has learned from them (training documents): of new ones it knows less.";
  return "Whether the model has learned from them was not said; if it has, scores are too good.";
}
