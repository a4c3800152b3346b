// A document's words in the colours of their topics.

const WORD = /[\p{L}\p{M}\p{N}_]+(?:['’][\p{L}\p{M}]+)?/gu;

// Word -> topic of a document.
function topicsOfWords(doc) {
  if (!doc.byWord) {
    doc.byWord = new Map(doc.words.map((word, j) => [data.words[word], doc.of[j]]));
  }
  return doc.byWord;
}

function topicOfWord(doc, word) {
  const known = topicsOfWords(doc);
  for (const form of [word, word.toLowerCase(), word.split(/['’]/u)[0].toLowerCase()]) {
    if (known.has(form)) return { form, k: known.get(form) };
  }
  return null;
}

function colouredWord(text, k) {
  return el("span", { class: `w${k === chosen ? " on" : ""}`, "data-topic": k, ...colour(k),
    title: `Topic ${k}: ${isolated(topicName(k))}` }, text);
}

// The text, at most `most` characters of it, with coloured words; `found` collects the words that were seen.
function colouredText(doc, most, found) {
  let text = doc.text;
  let cut = doc.cut;
  if (text.length > most) {
    text = text.slice(0, most).replace(/[\p{L}\p{M}\p{N}_]+$/u, "");
    cut = true;
  }
  const out = [];
  let end = 0;
  for (const match of text.matchAll(WORD)) {
    const hit = topicOfWord(doc, match[0]);
    if (!hit) continue;
    found.add(hit.form);
    if (match.index > end) out.push(text.slice(end, match.index));
    out.push(colouredWord(match[0], hit.k));
    end = match.index + match[0].length;
  }
  out.push(text.slice(end) + (cut ? " …" : ""));
  return out;
}

// A bag of words, most frequent first.
function colouredBag(doc, most, leaveOut = new Set()) {
  const places = doc.words.map((_, j) => j).filter((j) => !leaveOut.has(data.words[doc.words[j]]));
  places.sort((a, b) => doc.counts[b] - doc.counts[a]);
  const out = [];
  for (const j of places.slice(0, most)) {
    const times = doc.counts[j] > 1 ? ` ×${doc.counts[j]}` : "";
    out.push(colouredWord(own(data.words[doc.words[j]]), doc.of[j]), `${times} `);
  }
  if (places.length > most) out.push("…");
  return out;
}
