// Homes: a row for each consumer, with the chunks that it owns. A chunk is a strip of slots; one that is
// stolen moves over to the row of its thief.
const CELL = 29, STRIP = 26, BOX = 70, SIDE = 9, BESIDE = 16, NAMES = 112, WINDOW = 10;
const boxWide = (size) => Math.min(size, WINDOW) * CELL + 2 * SIDE;

/** Homes with their chunks, as large as there is room for. */
function drawHomesIn(pane, step, touched) {
  const rows = homes.length * (BOX + 18) + 10;
  // A small window rather scrolls than shows everything small.
  const least = pane.clientWidth < 620 ? 1 : 0.85;
  const scale = Math.min(1.25, Math.max(least, (pane.clientHeight - 16) / rows), Math.max(0.8, (pane.clientWidth - 8) / (NAMES + boxWide(largest) + BESIDE)));
  const width = Math.max(NAMES + boxWide(largest) + BESIDE, (pane.clientWidth - 8) / scale);
  const { height, tops } = drawHomes(step, width, touched, guardsAt(step));
  finishDrawing(width, height, scale, describeHomes(step));
  const home = step < 0 ? undefined : homes.find((each) => sitterOf(each, step) === touched.thread);
  if (tops.has(home) && pane.scrollHeight > pane.clientHeight) {
    const at = tops.get(home) * scale - 8;
    pane.scrollTop = Math.max(Math.min(pane.scrollTop, at), at + (BOX + 24) * scale - pane.clientHeight);
  }
}

/** All homes at a step; how high they are, and where each row is. */
function drawHomes(step, width, touched, shields) {
  const { placed, spare, left } = whereabouts(step);
  const rows = homes.filter((home) => lives(story.objects[home], step));
  const boxes = new Map(rows.map((home) => [home, []])), kept = new Map(rows.map((home) => [home, []]));
  for (const chunk of chunks.keys()) {
    if (!lives(story.objects[chunk], step)) continue;
    if (spare.has(chunk)) {
      (kept.get(spare.get(chunk)) || []).push(chunk);
      continue;
    }
    const now = chunkAt(chunk, step), { word } = now;
    const whose = (thread) => rows.find((home) => sitterOf(home, step) === thread);
    const nobody = word === null || word.nobody;
    const home = nobody ? whose(word !== null && word.tag > 0 ? now.writer : story.objects[chunk].maker) : homeAt(word.from, step);
    const look = nobody ? (word !== null && word.tag > 0 ? "retired" : "fresh") : placed.has(chunk) ? "" : "fresh";
    if (boxes.has(home)) boxes.get(home).push({ chunk, now, look, table: placed.get(chunk), left: left.has(chunk) });
  }
  const across = Math.max(1, Math.floor((width - NAMES) / (boxWide(largest) + BESIDE)));
  const tops = new Map(), spots = new Map();
  let top = 8;
  for (const home of rows) {
    const own = boxes.get(home).sort((a, b) => (a.look === "retired") - (b.look === "retired") || a.chunk - b.chunk);
    tops.set(home, top);
    drawHome(home, top, width, kept.get(home), step, touched);
    own.forEach((box, index) => {
      const x = NAMES + (index % across) * (boxWide(largest) + BESIDE), y = top + Math.floor(index / across) * (BOX + 12);
      spots.set(box.chunk, [x, y]);
      drawChunk(box, x, y, step, touched, shields);
    });
    top += Math.max(1, Math.ceil(own.length / across)) * (BOX + 12) + 6;
  }
  for (const list of boxes.values()) for (const { chunk, now } of list) drawTransit(chunk, now, spots.get(chunk), tops, step);
  return { height: top, tops };
}

const largest = Math.max(1, ...[...chunks.values()].map((chunk) => chunk.size));

function drawHome(home, top, width, kept, step, touched) {
  const thread = sitterOf(home, step), object = story.objects[home];
  const seat = parts[home].find((word) => story.words[word].role === "s");
  const vacant = valueAt(seat, step) !== 1;
  const mine = touched.word !== null && story.words[touched.word].object === home;
  const names = kept.map((chunk) => story.objects[chunk].name);
  const state = [thread, vacant, names.join(), width, mine ? hotLook(touched, touched.word) : ""].join("|");
  place("home " + home, 0, top, "home" + threadStyle(thread) + (vacant ? " vacant" : ""), state, () => {
    const made = [
      element("path", { class: "floor", d: "M8 " + (BOX + 9.5) + "H" + (width - 8) }),
      element("circle", { class: "seat", cx: 15, cy: 21, r: 6.5 }),
      element("text", { class: "owner", x: 28, y: 26 }, thread === null ? object.name : story.threads[thread]),
      element("text", { class: "note", x: 8, y: 45 }, object.name + (vacant ? ", vacant" : names.length ? ", " + names.length + " spare" : "")),
    ];
    if (mine) made.push(element("rect", { class: "halo" + hotLook(touched, touched.word), x: 3, y: 4, width: NAMES - 18, height: BOX, rx: 9 }));
    names.slice(0, 4).forEach((name, index) => made.push(
      element("rect", { class: "spare", x: 8 + index * 22, y: 52, width: 19, height: 16, rx: 3.5 }),
      element("text", { class: "spare", x: 17.5 + index * 22, y: 64 }, name),
    ));
    if (names.length) made.push(element("title", {}, names.length + (names.length === 1 ? " spare chunk: " : " spare chunks: ") + names.join(", ")));
    if (names.length > 4) made.push(element("text", { class: "note", x: 97, y: 64 }, "+" + (names.length - 4)));
    return made;
  });
}

/** The first slot that is shown of a chunk that is too long. */
const windowOf = ({ index, size }) => Math.max(0, Math.min(index - 2, size - WINDOW));

function drawChunk({ chunk, now, look, table, left }, x, y, step, touched, shields) {
  const { word, index, published, end, list, size } = now;
  const settled = word !== null && !word.nobody;
  const owner = settled ? sitterOf(homeAt(word.from, step), step) : null;
  const thief = settled && !word.stable ? sitterOf(homeAt(word.owner, step), step) : null;
  const open = settled && published < end && look !== "retired";
  const stolen = settled && table !== undefined && table !== homeAt(word.owner, step) && word.stable;
  const first = windowOf(now), shown = list.slice(first, first + WINDOW);
  const near = touched.word !== null && story.words[touched.word].object === chunk ? touched.word : null;
  const nextWord = settled ? chunks.get(chunk).next.get(word.from) : undefined;
  // An announcement that only its thread sees yet.
  const ahead = owner === null || nextWord === undefined ? null : bufferAt(owner, step).filter((store) => store.word === nextWord).pop();
  const protectors = [...(shields.get(chunk) || [])].sort((a, b) => a - b);
  const state = [owner, thief, look, first, index, published, end, open, left, stolen, now.producer, word ? word.tag : "", ahead ? ahead.value : "",
    protectors.join(), near, touched.thread, near === null ? "" : touched.kind, shown.map((slot) => slot.state + slot.task).join()].join("|");
  const style = "chunk " + look + threadStyle(thief === null ? owner : thief) + (thief === null ? "" : " transit");
  place("node " + chunk, x, y, style, state, () => {
    const wide = boxWide(size), at = (slot) => SIDE + (slot - first) * CELL;
    const inside = (slot) => slot >= first && slot <= first + shown.length;
    const made = [
      element("rect", { class: "body", width: wide, height: BOX, rx: 8 }),
      element("text", { class: "name", x: SIDE, y: 16 }, story.objects[chunk].name),
      element("text", { class: "whose", x: wide - SIDE, y: 16 }, caption(now, look, table, stolen, step)),
    ];
    shown.forEach((slot, place) => made.push(...drawSlot(slot, at(first + place))));
    if (near !== null) {
      const slot = shown.findIndex((each) => each.word === near), look = "halo" + hotLook(touched, near);
      made.push(slot >= 0
        ? element("rect", { class: look, x: at(first + slot) + 0.5, y: 22, width: CELL - 1, height: STRIP - 2, rx: 5 })
        : element("rect", { class: look, x: -2.5, y: -2.5, width: wide + 5, height: BOX + 5, rx: 10 }));
    }
    if (first > 0) made.push(element("text", { class: "note", x: SIDE + 20, y: 16 }, "‹ " + first));
    if (first + WINDOW < size) made.push(element("text", { class: "note", x: SIDE + 58, y: 16 }, size - first - WINDOW + " ›"));
    if (end < size && inside(end)) made.push(element("path", { class: "wall", d: "M" + at(end) + " 21v" + (STRIP + 4) }));
    if (settled && inside(index)) made.push(mark("index" + threadStyle(owner), at(index)));
    if (ahead && ahead.value !== index && inside(ahead.value)) made.push(mark("index ahead" + threadStyle(owner), at(ahead.value)));
    if (open && inside(published) && published < first + shown.length) {
      const text = left ? "left open" : "✎ " + (now.producer === null ? "" : story.threads[now.producer]);
      made.push(element("text", { class: "pen" + (left ? "" : threadStyle(now.producer)), x: Math.min(at(published) + CELL / 2 + 2, wide - 30), y: 65 }, text));
    }
    protectors.forEach((thread, place) => {
      const shield = element("g", { class: "shield" + threadStyle(thread), transform: "translate(" + (SIDE + 18 + place * 13) + ",-6)" });
      shield.append(element("path", { d: "M0 0h11v6q0 5 -5.500 7.500q-5.500 -2.500 -5.500 -7.500z" }), element("title", {}, story.threads[thread] + " has announced it: it is not freed"));
      made.push(shield);
    });
    return made;
  });
}

/** Whose it is, in a few words. */
function caption({ word }, look, table, stolen, step) {
  if (look === "retired") return "retired";
  if (word === null || word.nobody) return "new";
  const tag = " #" + word.tag;
  if (look === "fresh") return "not in a table yet" + tag;
  if (!word.stable) return consumerName(word.owner, step) + " takes it from " + consumerName(word.from, step) + tag;
  const from = stolen ? sitterOf(table, step) : null;
  return consumerName(word.owner, step) + (from === null ? "" : ", stolen from " + story.threads[from]) + tag;
}

function drawSlot({ state, task }, x) {
  const made = [element("rect", { class: "slot " + state, x: x + 1.5, y: 23, width: CELL - 3, height: STRIP - 4, rx: 4 })];
  const long = String(task).length > 3 ? " long" : "";
  if (task !== null) made.push(element("text", { class: "slot " + state + long, x: x + CELL / 2, y: 38.5 }, String(task)));
  return made;
}

/** The mark of an index: the slots before it are taken. */
const mark = (look, x) => element("path", { class: look, d: "M" + x + " 48l5.500 8h-11z" });

/** The way of a chunk that a thief has claimed, to the thief's row. */
function drawTransit(chunk, { word }, spot, tops, step) {
  if (word === null || word.nobody || word.stable || !spot) return;
  const to = homeAt(word.owner, step), thief = sitterOf(to, step);
  if (!tops.has(to)) return;
  const [x, y] = [spot[0], spot[1] + BOX / 2], end = tops.get(to) + 21, bend = NAMES - 30;
  place("transit " + chunk, 0, 0, "transit way" + threadStyle(thief), [x, y, end].join(), () => [
    element("path", { d: "M" + x + " " + y + "C" + bend + " " + y + " " + (bend + 20) + " " + end + " " + 66 + " " + end }),
    element("path", { class: "head", d: "M58 " + end + "l10 -5v10z" }),
  ]);
}

/** Homes and chunks in words. */
function describeHomes(step) {
  const { spare } = whereabouts(step);
  const told = [...chunks.keys()].filter((chunk) => lives(story.objects[chunk], step)).map((chunk) => {
    const now = chunkAt(chunk, step), name = "chunk " + story.objects[chunk].name;
    if (spare.has(chunk)) return name + " is spare";
    if (now.word === null || now.word.nobody) return name + " is nobody's";
    return name + " of " + ownerText(now.word, step) + " holds " + now.list.filter((slot) => slot.state === "full").length + " tasks";
  });
  return told.join(". ");
}
