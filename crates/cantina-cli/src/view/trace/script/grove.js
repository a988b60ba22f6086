// A list of trees, side by side: nodes level by level, with a bit for each child that may have tasks.
const SPACE = 9, EDGE = 12, BRANCH = 38, WORD = 26, TOP = 34, PILLS = 38, BETWEEN = 26;

/** How large a box is. */
const treeBoxSize = ({ places, bits }) => ({
  wide: Math.max(places.length * CELL, bits.length * 22) + (places.length ? 0 : 6) + 8,
  tall: (places.length ? WORD : 0) + (bits.length ? 20 : 0) + 6,
});

/** Where the boxes of a tree are, of that size: the lowest ones side by side, the others above the middle of theirs. */
function layOut(boxes, boxSize = treeBoxSize) {
  const spots = boxes.map(() => null), depth = Math.max(0, ...boxes.map((box) => box.level));
  const tops = [TOP];
  for (let level = 0; level < depth; level++) tops.push(tops[level] + BRANCH + Math.max(...boxes.filter((box) => box.level === level).map((box) => boxSize(box).tall)));
  let right = EDGE;
  const settle = (index) => {
    const below = boxes.map((_, child) => child).filter((child) => boxes[child].father === index).sort((a, b) => boxes[a].side - boxes[b].side);
    const { wide } = boxSize(boxes[index]), y = tops[boxes[index].level];
    if (!below.length) {
      spots[index] = { x: right, y, wide };
      right += wide + SPACE;
      return;
    }
    below.forEach(settle);
    const [first, last] = [spots[below[0]], spots[below[below.length - 1]]];
    const middle = (first.x + last.x + last.wide) / 2;
    spots[index] = { x: Math.max(EDGE, middle - wide / 2), y, wide };
  };
  boxes.forEach((box, index) => box.father === null && settle(index));
  // Beside bits there is a version.
  const wide = Math.max(90, right - SPACE + EDGE, ...spots.map((spot, index) => spot.x + spot.wide + (boxes[index].bits.length ? 34 : EDGE)));
  return { spots, wide, tall: tops[depth] + Math.max(...boxes.filter((box) => box.level === depth).map((box) => boxSize(box).tall)) + 20 };
}

const widest = Math.max(0, ...[...trees.keys()].map((tree) => layOut(treeAt(tree, story.objects[tree].born)).wide));
const tallest = Math.max(0, ...[...trees.keys()].map((tree) => layOut(treeAt(tree, story.objects[tree].born)).tall));
/** The most trees that the list has at a time, one that was passed and one in hand. */
const mostTrees = (() => {
  const linked = [...trees.keys()].filter((tree) => story.objects[tree].linked !== null);
  const turns = linked.flatMap((tree) => [[story.objects[tree].linked, 1], [story.objects[tree].unlinked ?? Infinity, -1]]).sort((a, b) => a[0] - b[0] || a[1] - b[1]);
  let now = 0, most = 0;
  for (const [, by] of turns) most = Math.max(most, (now += by));
  return most + (trees.size > 1 ? 2 : 0);
})();
/** What is too wide is scrolled, rather than left out. */
const LEAST_ROOM = 3, MOST_PASSED = 2;

/** The list with its trees, as large as there is room for. */
function drawTreesIn(pane, step, touched) {
  const one = widest + BETWEEN, height = PILLS + tallest + 34;
  const scale = Math.max(0.72, Math.min(1.3, (pane.clientHeight - 16) / height, (pane.clientWidth - 8) / (mostTrees * one + 20)));
  const width = (pane.clientWidth - 8) / scale, room = Math.max(LEAST_ROOM, Math.floor((width - 12) / one));
  const list = structures.find((number) => lives(story.objects[number], step) && linksOf(number).length);
  const chain = list === undefined ? [] : treesOf(list, step), ends = list === undefined ? [] : endsOf(list, step);
  const there = [...trees.keys()].filter((tree) => lives(story.objects[tree], step) && !chain.includes(tree));
  const old = there.filter((tree) => story.objects[tree].linked !== null && story.objects[tree].linked <= step);
  old.sort((a, b) => (story.objects[a].unlinked ?? 0) - (story.objects[b].unlinked ?? 0));
  const fresh = there.filter((tree) => !old.includes(tree));
  // First what the list has; what is left of the room goes to new ones, and to those that were passed last.
  const kept = fitting(chain, ends, touched, room), left = Math.max(0, room - kept.length);
  const shown = [...fresh.slice(0, left).map((tree) => [tree, "fresh"])];
  const passed = old.slice(old.length - Math.min(old.length, MOST_PASSED, left - shown.length));
  const row = [...passed.map((tree) => [tree, "retired"]), ...kept.map((tree) => [tree, ""]), ...shown];
  const shields = guardsAt(step), at = new Map();
  row.forEach(([tree, look], index) => {
    if (tree === null) return place("more trees " + index, 12 + index * one, PILLS, "more", "", () => [element("text", { x: widest / 2, y: tallest / 2 }, "…")]);
    at.set(tree, 12 + index * one);
    drawTree(tree, 12 + index * one, PILLS, look, step, touched, shields);
  });
  row.forEach(([tree]) => tree !== null && drawNext(tree, at, step, touched));
  drawEnds(ends, at, touched);
  drawSummary(list, old.length - passed.length, PILLS + tallest + 22, step, touched);
  finishDrawing(Math.max(width, 12 + row.length * one), height, scale, describeTrees(chain, ends, step));
  const tree = touched.word === null ? null : story.words[touched.word].object;
  if (at.has(tree) && pane.scrollWidth > pane.clientWidth) {
    const from = at.get(tree) * scale - 12;
    pane.scrollLeft = Math.max(Math.min(pane.scrollLeft, from), from + one * scale - pane.clientWidth);
  }
}

/** As much of the chain as there is room for: both ends, and what is touched. */
function fitting(chain, ends, touched, room) {
  const named = ends.map(([, , tree]) => chain.indexOf(tree));
  if (touched.word !== null) named.unshift(chain.indexOf(story.words[touched.word].object));
  return chain.length <= room ? chain : elide(chain, room, named);
}

function drawTree(tree, x, y, look, step, touched, shields) {
  const boxes = treeAt(tree, step), { spots, wide, tall } = layOut(boxes), object = story.objects[tree];
  const closed = isClosed(boxes), binary = trees.get(tree).binary;
  const near = touched.word !== null && story.words[touched.word].object === tree ? touched.word : null;
  const caption = look === "fresh" ? "in hand" : look ? (binary ? "passed" : isUnused(boxes) ? "spare" : "retired") : closed && !binary ? "closed" : "";
  const protectors = [...(shields.get(tree) || [])].sort((a, b) => a - b);
  const state = JSON.stringify([boxes, caption, protectors, near, near === null ? "" : touched.kind, near === null ? "" : touched.thread]);
  const maker = look === "fresh" ? threadStyle(object.maker) : "";
  place("tree " + tree, x, y, "tree " + look + (closed && !binary ? " closed" : "") + maker, state, () => {
    const made = [
      element("rect", { class: "frame", width: wide, height: tall, rx: 10 }),
      element("text", { class: "name", x: 11, y: 19 }, object.name),
      element("text", { class: "whose", x: wide - 11, y: 19 }, caption),
    ];
    boxes.forEach((box, index) => box.father !== null && made.push(...drawBranch(box, boxes[box.father], spots[index], spots[box.father])));
    boxes.forEach((box, index) => made.push(drawBox(box, spots[index], near, touched)));
    protectors.forEach((thread, place) => {
      const shield = element("g", { class: "shield" + threadStyle(thread), transform: "translate(" + (12 + place * 14) + "," + (tall - 7) + ")" });
      shield.append(element("path", { d: "M0 0h11v6q0 5 -5.500 7.500q-5.500 -2.500 -5.500 -7.500z" }), element("title", {}, story.threads[thread] + " has announced it: it is not freed"));
      made.push(shield);
    });
    return made;
  });
}

/** A tree that was passed and made new: it waits to be used again. */
const isUnused = (boxes) => boxes.every((box) => box.places.every((place) => place.state === "free"));

/** Where a bit of a box is. */
const bitSpot = (box, spot, side) => spot.x + spot.wide / 2 + (side - (box.bits.length - 1) / 2) * 22;

/** The line from a father's bit to a child, and who is about to change that bit. */
function drawBranch(box, father, spot, above) {
  const on = father.bits[box.side], from = bitSpot(father, above, box.side), to = spot.x + spot.wide / 2, y = above.y + treeBoxSize(father).tall;
  const made = [element("path", { class: "branch" + (on ? " on" : ""), d: "M" + from + " " + (y - 3) + "C" + from + " " + (y + 14) + " " + to + " " + (spot.y - 16) + " " + to + " " + spot.y })];
  if (box.pending) {
    made.push(
      element("rect", { class: "pending", x: to + 5, y: spot.y - 16, width: 22, height: 13, rx: 6.5 }),
      element("text", { class: "pending", x: to + 16, y: spot.y - 6 }, "±" + box.pending),
    );
  }
  return made;
}

function drawBox(box, { x, y, wide }, near, touched) {
  const group = element("g", { class: "box", transform: "translate(" + x + "," + y + ")" }), { tall } = treeBoxSize(box);
  const cells = box.places.length ? WORD : 0;
  group.append(element("rect", { class: "body" + (box.places.length ? "" : " word"), width: wide, height: tall, rx: 6 }));
  box.places.forEach(({ state, task }, index) => {
    const left = (wide - box.places.length * CELL) / 2 + index * CELL;
    group.append(element("rect", { class: "cell " + state, x: left + 1.5, y: 4, width: CELL - 3, height: WORD - 3, rx: 4 }));
    if (state === "closed") group.append(element("path", { class: "shut", d: "M" + (left + 5) + " " + (WORD - 2) + "L" + (left + CELL - 5) + " 7" }));
    if (task !== null) group.append(element("text", { class: "cell " + state + (String(task).length > 3 ? " long" : ""), x: left + CELL / 2, y: 20 }, String(task)));
  });
  box.bits.forEach((on, side) => {
    const at = bitSpot(box, { x: 0, wide }, side);
    group.append(
      element("rect", { class: "bit" + (on ? " on" : ""), x: at - 8, y: cells + 5, width: 16, height: 14, rx: 3 }),
      element("text", { class: "bit" + (on ? " on" : ""), x: at, y: cells + 16 }, on ? "1" : "0"),
    );
  });
  if (box.versions.some((version) => version > 0)) group.append(element("text", { class: "version", x: wide + 3, y: tall - 6 }, "v" + box.versions.join("·")));
  const cell = near === null ? -1 : box.places.findIndex((place) => place.word === near);
  if (near !== null && (cell >= 0 || box.words.includes(near))) group.append(element("rect", { class: "halo" + hotLook(touched, near), x: -3, y: -3, width: wide + 6, height: tall + 6, rx: 9 }));
  group.append(element("title", {}, box.name));
  return group;
}

/** The arrow to the next tree. */
function drawNext(tree, at, step, touched) {
  const word = linksOf(tree)[0], to = word === undefined ? null : target(valueAt(word, step)), y = PILLS + 15;
  if (to === null || !at.has(to)) return;
  const from = at.get(tree) + layOut(treeAt(tree, step)).wide, end = at.get(to);
  place("link " + word, 0, 0, "link" + hotLook(touched, word), [from, end].join(), () => [
    element("path", { d: "M" + from + " " + y + "H" + (end - 6) }), arrowHead(end - 1, y),
  ]);
}

/** Head and tail, above their trees. */
function drawEnds(ends, at, touched) {
  const taken = new Map();
  ends.forEach(([name, word, tree], index) => {
    if (!at.has(tree)) return;
    const beside = taken.get(tree) || 0, label = name === "and" ? "before" : name, wide = 14 + label.length * 7.500;
    taken.set(tree, beside + wide + 6);
    place("end " + word + " " + index, at.get(tree) + 4 + beside, 2, "pointer" + (name === "and" ? " also" : "") + hotLook(touched, word), name, () => [
      element("rect", { width: wide, height: 19, rx: 9.5 }),
      element("text", { x: wide / 2, y: 13.5 }, label),
      element("path", { class: "stem", d: "M" + wide / 2 + " 19V29" }),
      element("path", { class: "head", d: "M" + wide / 2 + " 35l-4 -7h8z" }),
    ]);
  });
}

/** The numbers of the list, and what is not drawn. */
function drawSummary(list, hidden, y, step, touched) {
  const numbers = list === undefined ? [] : parts[list].filter((word) => story.words[word].role === "n");
  const told = numbers.map((word) => partName(word) + " " + numberOf(word, step));
  if (hidden > 0) told.push("+" + hidden + (hidden === 1 ? " passed tree" : " passed trees"));
  const hot = numbers.find((word) => touched.word === word);
  told.push("1: there may be tasks below", "v: version of the bits", "±: how many are about to change the bit");
  place("summary", 14, y, "caption" + (hot === undefined ? "" : hotLook(touched, hot)), told.join(), () => [element("text", { x: 0, y: 0 }, told.join("  ·  "))]);
}

/** The trees in words. */
function describeTrees(chain, ends, step) {
  const told = chain.map((tree) => {
    const places = treeAt(tree, step).flatMap((box) => box.places);
    const count = (state) => places.filter((place) => place.state === state).length;
    const named = ends.filter(([, , to]) => to === tree).map(([name]) => (name === "and" ? "before the head" : name));
    return "tree " + story.objects[tree].name + (named.length ? " (" + named.join(", ") + ")" : "") + " has " + count("full") + " tasks, " + count("free") + " free places";
  });
  return told.join(". ");
}
