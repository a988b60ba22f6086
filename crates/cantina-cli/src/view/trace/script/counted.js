// A to-do tree: nodes level by level with their counts, and the blocks below them.
const NODE_WIDE = 74, NODE_TALL = 40, BLOCK_TALL = 50;

const todoBoxSize = ({ places }) => (places.length ? { wide: Math.max(54, places.length * CELL + 8), tall: BLOCK_TALL } : { wide: NODE_WIDE, tall: NODE_TALL });

/** The tree, as large as there is room for. */
function drawTodoIn(pane, tree, step, touched) {
  if (!isTodo(tree ?? null)) return finishDrawing(100, 100, 1, "");
  const boxes = todoAt(tree, step), { spots, wide, tall } = layOut(boxes, todoBoxSize);
  const height = tall + 40, scale = Math.max(0.72, Math.min(1.5, (pane.clientHeight - 16) / height, (pane.clientWidth - 8) / (wide + 24)));
  const width = Math.max((pane.clientWidth - 8) / scale, wide + 24), left = Math.max(12, (width - wide) / 2);
  const near = touched.word !== null && story.words[touched.word].object === tree ? touched.word : null;
  const state = JSON.stringify([boxes, near, near === null ? "" : touched.kind, near === null ? "" : touched.thread]);
  place("todo " + tree, left, 8, "tree todo", state, () => {
    const made = [
      element("rect", { class: "frame", width: wide, height: tall, rx: 10 }),
      element("text", { class: "name", x: 11, y: 19 }, story.objects[tree].name),
    ];
    boxes.forEach((box, index) => box.father !== null && made.push(todoBranch(box, spots[index], spots[box.father])));
    boxes.forEach((box, index) => made.push(todoBox(box, spots[index], near, touched)));
    return made;
  });
  const told = "put − taken: tasks below  ·  dashed: claimed, being put or taken";
  place("summary", left, tall + 26, "caption", told, () => [element("text", { x: 0, y: 0 }, told)]);
  finishDrawing(width, height, scale, describeTodo(boxes));
}

function todoBranch(box, spot, above) {
  const from = above.x + above.wide / 2, to = spot.x + spot.wide / 2, y = above.y + NODE_TALL;
  return element("path", { class: "branch" + (box.put > box.taken ? " on" : ""), d: "M" + from + " " + y + "C" + from + " " + (y + 20) + " " + to + " " + (spot.y - 20) + " " + to + " " + spot.y });
}

function todoBox(box, { x, y, wide }, near, touched) {
  const group = element("g", { class: "box", transform: "translate(" + x + "," + y + ")" }), { tall } = todoBoxSize(box);
  group.append(element("rect", { class: "body" + (box.places.length ? "" : " word"), width: wide, height: tall, rx: 6 }));
  box.places.forEach(({ state, task }, index) => {
    const at = (wide - box.places.length * CELL) / 2 + index * CELL;
    group.append(element("rect", { class: "cell " + state, x: at + 1.5, y: 4, width: CELL - 3, height: WORD - 3, rx: 4 }));
    if (task !== null) group.append(element("text", { class: "cell " + state + (String(task).length > 3 ? " long" : ""), x: at + CELL / 2, y: 20 }, String(task)));
  });
  if (!box.places.length) group.append(element("text", { class: "surplus", x: wide / 2, y: 17 }, String(box.put - box.taken)));
  group.append(element("text", { class: "counts", x: wide / 2, y: tall - 7 }, box.put + " − " + box.taken));
  const cell = near === null ? -1 : box.places.findIndex((place) => place.word === near);
  if (near !== null && (cell >= 0 || box.words.includes(near))) group.append(element("rect", { class: "halo" + hotLook(touched, near), x: -3, y: -3, width: wide + 6, height: tall + 6, rx: 9 }));
  group.append(element("title", {}, box.name + ": " + box.put + " put, " + box.taken + " taken"));
  return group;
}

/** The tree in words. */
function describeTodo(boxes) {
  return boxes.map((box) => box.name + " has " + (box.put - box.taken) + " tasks, " + box.put + " put and " + box.taken + " taken").join(". ");
}
