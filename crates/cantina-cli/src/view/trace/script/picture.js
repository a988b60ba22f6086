// The structures, drawn from the memory as it is at a step: rows, the nodes that links lead to, those
// that nobody has linked yet, and those that no link leads to any more.
const drawing = document.getElementById("drawing");
const NODE = 56, TALL = 42, GAP = 26, LABEL = 118, RETIRED = 2;
/** Where chains start. */
const START_X = LABEL + RETIRED * 40 + 14;
const structures = story.objects.map((_, number) => number).filter((number) => !story.objects[number].node);
/** Nodes of chains: chunks are drawn with the homes. */
const nodes = story.objects.map((_, number) => number).filter((number) => story.objects[number].node && !chunks.has(number));

/** The longest chain there is in the run: it decides how large things are drawn. */
const longest = (() => {
  const turns = nodes.flatMap((node) => {
    const { linked, unlinked, gone, home } = story.objects[node];
    return linked === null ? [] : [[linked, 1, home], [unlinked ?? gone ?? Infinity, -1, home]];
  });
  turns.sort((a, b) => a[0] - b[0] || a[1] - b[1]);
  const now = new Map();
  let most = 0;
  for (const [, by, home] of turns) {
    now.set(home, (now.get(home) || 0) + by);
    most = Math.max(most, now.get(home));
  }
  return most;
})();

/** What is on the drawing, by key, so that it can move instead of being drawn anew. */
const shapes = new Map();
let drawn = new Set();

function element(name, attributes, text) {
  const made = document.createElementNS(drawing.namespaceURI, name);
  for (const [key, value] of Object.entries(attributes || {})) made.setAttribute(key, value);
  if (text !== undefined) made.textContent = text;
  return made;
}

/** Puts a group of that key at a place; `fill` makes its contents, if they differ from before. */
function place(key, x, y, look, state, fill) {
  let shape = shapes.get(key);
  if (!shape) {
    shape = { group: element("g"), state: null };
    shapes.set(key, shape);
    drawing.append(shape.group);
  }
  drawn.add(key);
  shape.group.setAttribute("class", look);
  shape.group.style.transform = "translate(" + x + "px," + y + "px)";
  if (shape.state !== state) {
    shape.state = state;
    shape.group.replaceChildren(...fill());
  }
}

const threadStyle = (thread) => (thread === null || thread === undefined ? "" : " hue" + (thread % HUES));

/** Draws everything as it is at a step. */
function drawPicture(step) {
  drawn = new Set();
  const pane = document.getElementById("picture");
  const alive = structures.filter((number) => lives(story.objects[number], step));
  const hot = step < 0 ? null : steps.words[step];
  const touched = { word: hot, thread: step < 0 ? null : steps.threads[step], kind: step < 0 ? "" : steps.kinds[step] };
  if (homes.length) return drawHomesIn(pane, step, touched);
  if (trees.size) return drawTreesIn(pane, step, touched);
  if (halls.size) return drawHallIn(pane, step, touched);
  if (todoTrees.size) return drawTodoIn(pane, alive[0], step, touched);
  // Where there are many rows, what is in hand stands beside them.
  const beside = alive.length > 2, row = beside ? 90 : 116;
  const bottom = Math.max(1, alive.length) * row, height = bottom + (nodes.length && !beside ? 74 : 0);
  const wanted = START_X + longest * (NODE + GAP) + 40 + (beside ? NODE + 50 : 0);
  const scale = Math.max(0.88, Math.min(1.4, (pane.clientHeight - 16) / height, pane.clientWidth / wanted));
  const width = Math.max(START_X + 4 * (NODE + GAP), (pane.clientWidth - 8) / scale);
  const shields = guardsAt(step);
  const room = beside ? width - NODE - 50 : width;
  alive.forEach((structure, index) => drawStructure(structure, index * row, room, step, touched, shields));
  if (beside) drawFresh(room, 14, 0, 62, step, touched); else drawFresh(START_X, bottom, NODE + GAP + 10, 0, step, touched);
  finishDrawing(width, height, scale, describePicture(alive, step));
  if (hot !== null && pane.scrollHeight > pane.clientHeight) follow(pane, alive, hot, row * scale);
}

/** Takes away what is no longer there, and fits the drawing around the rest. */
function finishDrawing(width, height, scale, words) {
  for (const [key, shape] of shapes) {
    if (!drawn.has(key)) {
      shape.group.remove();
      shapes.delete(key);
    }
  }
  drawing.setAttribute("viewBox", "0 0 " + width + " " + height);
  drawing.setAttribute("width", width * scale);
  drawing.setAttribute("height", height * scale);
  drawing.setAttribute("aria-label", words);
}

/** Brings the row into view that a word belongs to. */
function follow(pane, alive, word, row) {
  const object = story.words[word].object;
  const home = object !== null && story.objects[object].node ? story.objects[object].home : object;
  const at = alive.indexOf(home) * row;
  if (at >= 0) pane.scrollTop = Math.max(Math.min(pane.scrollTop, at), at + row - pane.clientHeight);
}

/** Who keeps which node from being freed. */
function guardsAt(step) {
  const shields = new Map();
  for (const word of guards) {
    const change = changeAt(word, step), object = change ? target(change[2]) : null;
    if (object === null) continue;
    if (!shields.has(object)) shields.set(object, new Set());
    if (change[3] !== null) shields.get(object).add(change[3]);
  }
  return shields;
}

/** The nodes that links lead to, in the order in which one comes to them. */
function chainOf(structure, step) {
  const chain = [];
  for (const link of linksOf(structure)) {
    let next = target(valueAt(link, step));
    while (next !== null && !chain.includes(next) && chain.length < 5000) {
      chain.push(next);
      const on = linksOf(next).map((word) => target(valueAt(word, step))).filter((each) => each !== null);
      next = on.length ? on[0] : null;
    }
  }
  return chain;
}

function drawStructure(structure, top, width, step, touched, shields) {
  const object = story.objects[structure], y = top + 44;
  drawTitle(structure, object, top, step, touched);
  const held = contents.get(structure);
  if (held) return drawContents(structure, held, y, width, step, touched);
  const chain = chainOf(structure, step);
  const start = START_X;
  const room = Math.max(3, Math.floor((width - start - 30) / (NODE + GAP)));
  const named = linksOf(structure).map((word) => chain.indexOf(target(valueAt(word, step))));
  const shown = elide(chain, room, named);
  const spot = new Map();
  shown.forEach((node, index) => {
    const x = start + index * (NODE + GAP);
    if (node === null) {
      place("more " + structure + " " + index, x, y, "more", "", () => [
        element("text", { x: NODE / 2, y: TALL / 2 + 4 }, "…"),
      ]);
      return;
    }
    spot.set(node, x);
    drawNode(node, x, y, step, touched, shields, stateOf(structure, chain, node, step));
    drawLink(node, x, y, step, touched, chain);
  });
  drawPointers(structure, spot, start, y, shown, step, touched);
  drawRetired(structure, start, y, step, touched, shields);
}

/** As much of a long chain as there is room for: those that have to be seen, both ends, and gaps. */
function elide(chain, room, named) {
  if (chain.length <= room) return chain;
  const last = chain.length - 1;
  const wanted = [0, last, ...named.filter((place) => place >= 0)];
  for (let near = 1; near <= last; near++) wanted.push(near, last - near);
  let kept = [];
  for (const place of wanted) {
    if (kept.includes(place)) continue;
    const more = [...kept, place].sort((a, b) => a - b);
    const gaps = more.filter((each, index) => index > 0 && each > more[index - 1] + 1).length;
    if (more.length + gaps > room) break;
    kept = more;
  }
  return kept.flatMap((place, index) => (index > 0 && place > kept[index - 1] + 1 ? [null, chain[place]] : [chain[place]]));
}

function drawTitle(structure, object, top, step, touched) {
  place("title " + structure, 0, top, "title", object.name, () => [
    element("text", { x: 8, y: 26 }, object.name),
  ]);
  let line = 0;
  for (const word of parts[structure]) {
    const { role, name } = story.words[word];
    if (role !== "k" && role !== "n") continue;
    const change = changeAt(word, step), value = change ? change[2] : 0;
    const short = name.split(".").pop();
    const holder = typeof value === "string" && value[0] === "t" ? Number(value.slice(1)) : null;
    const waiting = role === "k" ? waitingFor(word, step) : [];
    const state = [short, value, waiting.join(), touched.word === word].join("|");
    const look = "chip" + threadStyle(holder) + (holder === null ? "" : " held") + hotLook(touched, word);
    place("chip " + word, 8, top + 34 + line * 38, look, state, () => chip(role, short, value, holder, waiting));
    line++;
  }
}

function chip(role, name, value, holder, waiting) {
  if (role === "n") return [element("text", { x: 0, y: 12 }, name + " " + value)];
  const open = holder === null;
  const made = [
    element("path", { class: "bow", d: open ? "M7 8V5a3 3 0 0 1 6 0" : "M3 8V5a3 3 0 0 1 6 0v3" }),
    element("rect", { class: "body", x: 1, y: 8, width: 10, height: 8, rx: 1.5 }),
    element("text", { x: 18, y: 15.5 }, name + (open ? "" : ": " + story.threads[holder])),
  ];
  waiting.forEach((thread, index) => {
    made.push(element("circle", { class: "waits" + threadStyle(thread), cx: 8 + index * 13, cy: 25, r: 5 }));
    made.push(element("title", {}, "waiting: " + waiting.map((each) => story.threads[each]).join(", ")));
  });
  return made;
}

/** What a structure says that it holds, the next one first. */
function drawContents(structure, entries, y, width, step, touched) {
  const last = lastAt(entries, step, (entry) => entry[0]);
  const tasks = last < 0 ? [] : entries[last][2];
  const start = LABEL + 40, cell = 46;
  const room = Math.max(3, Math.floor((width - start - 20) / cell));
  const shown = elide(tasks.map((task, index) => ({ task, index })), room, []);
  place("next " + structure, start - 34, y, "caption", String(tasks.length), () => [
    element("text", { x: 0, y: TALL / 2 + 4 }, tasks.length ? "next" : "empty"),
  ]);
  shown.forEach((entry, index) => {
    const x = start + index * cell;
    if (entry === null) {
      place("more " + structure + " " + index, x, y, "more", "", () => [
        element("text", { x: 20, y: TALL / 2 + 4 }, "…"),
      ]);
      return;
    }
    place("task " + structure + " " + entry.task, x, y, "node full", String(entry.task), () => [
      element("rect", { width: 40, height: TALL, rx: 6 }),
      element("text", { class: "task", x: 20, y: TALL / 2 + 5 }, String(entry.task)),
    ]);
  });
}

/** What is special about a linked node. */
function stateOf(structure, chain, node, step) {
  const links = linksOf(structure);
  if (links.length < 2) return "";
  const last = target(valueAt(links[links.length - 1], step));
  return chain.includes(last) && chain.indexOf(node) > chain.indexOf(last) ? "ahead" : "";
}

function hotLook(touched, word) {
  if (touched.word !== word || word === null) return "";
  return touched.kind === "x" || touched.kind === "j" ? " hot fails" : " hot by" + (touched.thread % HUES);
}

function drawNode(node, x, y, step, touched, shields, extra) {
  const task = taskOf(node), value = task === undefined ? null : valueAt(task, step);
  const near = touched.word !== null && story.words[touched.word].object === node && roleOf(touched.word) !== "l";
  const protectors = [...(shields.get(node) || [])].sort((a, b) => a - b);
  const look = "node " + extra + (value === null ? " empty" : " full") + (near ? hotLook(touched, touched.word) : "");
  place("node " + node, x, y, look, [value, protectors.join(), extra].join("|"), () => {
    const made = [
      element("rect", { width: NODE, height: TALL, rx: 7 }),
      element("text", { class: "name", x: 7, y: 13 }, story.objects[node].name),
      element("text", { class: "task", x: NODE / 2, y: TALL / 2 + 9 }, value === null ? "–" : valueText(value, "t")),
    ];
    protectors.forEach((thread, index) => {
      const shield = element("g", { class: "shield" + threadStyle(thread), transform: "translate(" + (NODE - 16 - index * 13) + "," + (TALL - 7) + ")" });
      shield.append(
        element("path", { d: "M0 0h11v6q0 5 -5.500 7.500q-5.500 -2.500 -5.500 -7.500z" }),
        element("title", {}, story.threads[thread] + " has announced it: it is not freed"),
      );
      made.push(shield);
    });
    const caption = { ahead: "tail lags", retired: "retired" }[extra];
    if (caption) made.push(element("text", { class: "caption", x: NODE / 2, y: TALL + 14 }, caption));
    return made;
  });
}

/** The arrow from a node to the one it leads to. */
function drawLink(node, x, y, step, touched, chain) {
  for (const word of linksOf(node)) {
    const change = changeAt(word, step), to = change ? target(change[2]) : null;
    const look = "link" + hotLook(touched, word);
    const straight = to !== null && chain[chain.indexOf(node) + 1] === to;
    place("link " + word, x + NODE, y + TALL / 2, look, straight + "|" + to, () => {
      if (to === null) return [element("path", { d: "M0 0H9M9 -6V6" })];
      if (straight) return [element("path", { d: "M0 0H" + (GAP - 6) }), arrowHead(GAP - 1, 0)];
      return [element("path", { d: "M0 0H8" }), element("text", { x: 10, y: 4 }, story.objects[to].name)];
    });
    return;
  }
}

const arrowHead = (x, y) => element("path", { class: "head", d: "M" + x + " " + y + "l-7 -4v8z" });

/** The links of the structure itself, above the nodes they lead to. */
function drawPointers(structure, spot, start, y, shown, step, touched) {
  const taken = new Map();
  for (const word of linksOf(structure)) {
    const to = target(valueAt(word, step)), name = story.words[word].name.split(".").pop();
    const anchor = to !== null && spot.has(to) ? spot.get(to) : start + shown.length * (NODE + GAP);
    const beside = taken.get(anchor) || 0;
    taken.set(anchor, beside + 1);
    const wide = 12 + name.length * 7;
    const x = anchor + beside * 44 - (beside ? 0 : 4), empty = to === null;
    place("pointer " + word, x, y - 34, "pointer" + hotLook(touched, word), name + empty + beside, () => [
      element("rect", { width: wide, height: 19, rx: 9.5 }),
      element("text", { x: wide / 2, y: 13.5 }, name),
      element("path", { class: "stem", d: "M" + wide / 2 + " 19V" + (empty ? 34 : 27) }),
      empty
        ? element("text", { class: "null", x: wide / 2, y: 52 }, NOTHING)
        : element("path", { class: "head", d: "M" + wide / 2 + " 33l-4 -7h8z" }),
    ]);
  }
}

/** Nodes that were linked here and are not any more, the latest nearest. */
function drawRetired(structure, start, y, step, touched, shields) {
  const gone = nodes.filter((node) => {
    const { home, unlinked } = story.objects[node];
    return home === structure && unlinked !== null && unlinked <= step && lives(story.objects[node], step);
  });
  gone.sort((a, b) => story.objects[b].unlinked - story.objects[a].unlinked);
  gone.slice(0, RETIRED).forEach((node, index) => {
    drawNode(node, start - 14 - NODE - index * 40, y, step, touched, shields, "retired" + (index ? " old" : ""));
  });
  if (gone.length > RETIRED) {
    place("gone " + structure, LABEL - 8, y + TALL + 14, "caption", String(gone.length), () => [
      element("text", { x: 0, y: 0 }, "+" + (gone.length - RETIRED)),
    ]);
  }
}

/** Nodes that only their makers know yet. */
function drawFresh(left, top, right, down, step, touched) {
  const fresh = nodes.filter((node) => {
    const object = story.objects[node];
    return lives(object, step) && (object.linked === null || object.linked > step);
  });
  if (!nodes.length) return;
  place("hands", down ? left : 0, down ? 0 : top + 24, "title faint", "", () => [element("text", { x: 8, y: 12 }, "in hand")]);
  fresh.forEach((node, index) => {
    const x = left + index * right, y = top + 10 + index * down;
    const maker = story.objects[node].maker;
    drawNode(node, x, y, step, touched, new Map(), "fresh" + threadStyle(maker));
    drawLink(node, x, y, step, touched, []);
  });
}

/** The picture in words. */
function describePicture(alive, step) {
  return alive.map((structure) => {
    const held = contents.get(structure), name = story.objects[structure].name;
    if (held) {
      const last = lastAt(held, step, (entry) => entry[0]);
      return name + " holds " + (last < 0 ? 0 : held[last][2].length) + " tasks";
    }
    const links = linksOf(structure).map((word) => story.words[word].name + " leads to " + valueText(valueAt(word, step), "l"));
    return name + ": " + chainOf(structure, step).map((node) => story.objects[node].name).join(", ") + "; " + links.join(", ");
  }).join(". ");
}
