// Homes and their chunks, read off the memory: who owns what, which tasks are there, who fills it.
const homes = story.objects.map((_, number) => number).filter((number) => parts[number].some((word) => story.words[word].role === "s"));
const numbered = (words) => new Map(words.map((word) => [story.words[word].number, word]));

/** The words of each chunk, by what they are. */
const chunks = new Map();
story.objects.forEach((object, number) => {
  const of = (role) => parts[number].filter((word) => story.words[word].role === role);
  const named = (name) => parts[number].find((word) => story.words[word].name.endsWith("." + name));
  const [owner] = of("o");
  if (owner === undefined) return;
  chunks.set(number, {
    owner, limit: named("limit"), lap: named("lap"), groups: object.groups || [],
    size: (object.groups || []).reduce((sum, slots) => sum + slots, 0),
    next: numbered(of("i")), headers: numbered(of("c")), bits: numbered(of("b")), slots: numbered(of("t")),
  });
});

/** The words of a role, wherever they are. */
const wordsOf = (role) => story.words.map((_, number) => number).filter((word) => story.words[word].role === role);
const placeWords = wordsOf("p"), spareWords = wordsOf("e"), openWords = wordsOf("a"), homeWords = numbered(wordsOf("h"));

/** What an owner word says, or null. */
function ownerOf(value) {
  if (typeof value !== "string" || value[0] !== "o") return null;
  const [owner, from, fresh, tag] = value.slice(1).split(",").map(Number);
  return { owner, from, fresh: fresh === 1, tag, stable: owner === from, nobody: from === -1 };
}

/** What a header says: [count, lap]. */
const countOf = (value) => (typeof value === "string" && value[0] === "c" ? value.slice(1).split(",").map(Number) : [0, 0]);

/** The home of that number. */
function homeAt(id, step) {
  const word = homeWords.get(id);
  return word === undefined ? null : target(valueAt(word, step));
}

/** The thread that has a home, or had it last. */
function sitterOf(home, step) {
  if (home === null) return null;
  const history = histories[parts[home].find((word) => story.words[word].role === "s")];
  for (let place = lastAt(history, step, (change) => change[0]); place >= 0; place--) {
    if (history[place][2] === 1) return history[place][3];
  }
  return null;
}

/** What to call a consumer: its thread, or its number. */
function consumerName(id, step) {
  if (id < 0) return "nobody";
  const thread = sitterOf(homeAt(id, step), step);
  return thread === null ? "C" + id : story.threads[thread];
}

const ownerText = ({ owner, from, stable, nobody, tag }, step) => (nobody ? "nobody"
  : (stable ? consumerName(owner, step) : consumerName(from, step) + " ⇢ " + consumerName(owner, step))) + " #" + tag;

/** The tasks that were put into a slot: what is written there by who takes them is none. */
const puts = new Map();
function putAt(slot, step) {
  if (slot === undefined) return null;
  if (!puts.has(slot)) {
    puts.set(slot, histories[slot].filter(([moment, , value, thread]) => {
      const operation = thread === null ? null : operationAt(thread, moment);
      return value !== null && operation !== null && operation.name.startsWith("put");
    }));
  }
  const list = puts.get(slot), place = lastAt(list, step, (change) => change[0]);
  return place < 0 ? null : list[place];
}

/** The last change of a header in this lap. */
function lastPublished(chunk, lap, step) {
  let last = null;
  for (const word of chunks.get(chunk).headers.values()) {
    const change = changeAt(word, step);
    if (change && countOf(change[2])[1] === lap && (!last || change[0] >= last[0])) last = change;
  }
  return last;
}

/** A chunk at a step: its owner, its slots, who fills it. */
function chunkAt(chunk, step) {
  const { owner, limit, lap, groups, size, next, headers, bits, slots } = chunks.get(chunk);
  const word = ownerOf(valueAt(owner, step)), change = changeAt(owner, step);
  const life = valueAt(lap, step) || 0, began = changeAt(lap, step);
  const numberAt = (part) => (part === undefined ? 0 : valueAt(part, step) || 0);
  const index = word === null || word.nobody ? size : numberAt(next.get(word.from));
  const list = [];
  let published = 0;
  groups.forEach((count, group) => {
    const [seen, of] = countOf(headers.has(group) ? valueAt(headers.get(group), step) : null);
    for (let place = 0; place < count; place++) {
      const slot = list.length, put = putAt(slots.get(slot), step);
      const mine = put !== null && began !== null && put[0] >= began[0];
      const won = (BigInt(numberAt(bits.get(slot >> 6))) >> BigInt(slot & 63)) & 1n;
      const out = of === life && place < seen;
      const state = out ? (slot < index || won ? "taken" : "full") : mine ? "written" : "free";
      if (out) published = slot + 1;
      list.push({ state, task: mine ? put[2] : null, word: slots.get(slot) });
    }
  });
  const last = lastPublished(chunk, life, step);
  const end = limit === undefined ? size : valueAt(limit, step) || size;
  return { word, index, published, end, list, size, writer: change ? change[3] : null, producer: last ? last[3] : change ? change[3] : null };
}

/** Which chunk is where: in a table, among the spares, left half filled. */
function whereabouts(step) {
  const found = (words) => {
    const map = new Map();
    for (const word of words) {
      if (!lives(story.words[word], step)) continue;
      const object = target(valueAt(word, step));
      if (object !== null) map.set(object, story.words[word].object);
    }
    return map;
  };
  return { placed: found(placeWords), spare: found(spareWords), left: found(openWords) };
}

/** What a change of an owner word means: [verb, object], or null. */
function ownerDeed(step) {
  const word = steps.words[step], kind = steps.kinds[step];
  if (word === null || story.words[word].role !== "o" || kind !== "c") return null;
  const before = ownerOf(steps.values[step]), after = ownerOf(steps.after[step]);
  if (!before || !after) return null;
  const chunk = "chunk " + story.objects[story.words[word].object].name;
  const name = (id) => consumerName(id, step);
  if (after.nobody) return ["retires", chunk];
  if (after.stable && before.stable) return ["takes", chunk + " back"];
  if (after.stable && after.owner === before.owner) return ["steals", chunk + " from " + name(before.from)];
  if (after.stable) return after.owner === before.from && sitterOf(homeAt(after.owner, step), step) !== steps.threads[step]
    ? ["rolls back", chunk + " to " + name(after.owner)]
    : ["takes", chunk + " back from " + name(before.owner)];
  return ["claims", chunk + (before.stable ? " of " + name(before.owner) : " on its way from " + name(before.from) + " to " + name(before.owner))];
}

/** The steps that settle a steal. */
const steals = new Set();
for (let step = 0; step < COUNT; step++) {
  const told = ownerDeed(step);
  if (told && told[0] === "steals") steals.add(step);
}
