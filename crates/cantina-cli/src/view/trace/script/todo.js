// To-do trees, read off the memory: blocks of places, and nodes that count the tasks put and taken below them.
const todoTrees = new Map();
story.objects.forEach((object, number) => {
  if (object.what !== "to-do tree") return;
  const of = (name) => numbered(parts[number].filter((word) => partName(word) === name)), words = {};
  for (const name of ["put", "taken", "block", "claims", "task"]) words[name] = of(name);
  todoTrees.set(number, { groups: object.groups || [], fans: object.fans || [], words });
});
const isTodo = (object) => object !== null && todoTrees.has(object);

const BLOCK_BITS = 2 ** 16;
/** What a word of a block says: a bit for each place, and a count above them. */
const blockOf = (value) => ({ bits: Number(value || 0) % BLOCK_BITS, count: Math.floor(Number(value || 0) / BLOCK_BITS) });
const blockText = (value) => "places " + (bitsIn(blockOf(value).bits).join(" ") || NOTHING) + ", count " + blockOf(value).count;

/** A tree at a step: nodes from the top down, then blocks. Each knows its father and its side. */
function todoAt(tree, step) {
  const { groups, fans, words } = todoTrees.get(tree), boxes = [];
  // As many as nobody has for a child stand at the top.
  const children = fans.reduce((sum, count) => sum + count, 0);
  const tops = fans.length + groups.length - children, fathers = Array.from({ length: tops }, () => [null, 0]);
  fans.forEach((count, node) => {
    for (let side = 0; side < count; side++) fathers.push([node, side]);
  });
  const add = (box) => {
    const [father, side] = fathers[boxes.length] || [null, 0];
    boxes.push({ father, side, level: father === null ? 0 : boxes[father].level + 1, bits: [], ...box });
  };
  fans.forEach((_, node) => {
    const own = [words.put.get(node), words.taken.get(node)], [put, taken] = own.map((word) => numberOf(word, step));
    add({ put, taken, places: [], words: own, name: "node " + node });
  });
  let first = 0;
  groups.forEach((count, block) => {
    const own = [words.block.get(block), words.claims.get(block)];
    const [shown, claimed] = own.map((word) => blockOf(word === undefined ? 0 : valueAt(word, step)));
    const places = Array.from({ length: count }, (_, slot) => {
      const cell = words.task.get(first + slot), state = bitOf(shown.bits, slot) ? "full" : bitOf(claimed.bits, slot) ? "written" : "free";
      return { state, task: state === "free" || cell === undefined ? null : taskIn(cell, -1, step), word: cell };
    });
    first += count;
    add({ put: shown.count, taken: shown.count - bitsIn(shown.bits).length, places, words: own, name: "block " + block });
  });
  return boxes;
}

/** What an access to a to-do tree means where its name and value would not tell: [verb, object], or null. */
function todoDeed(step) {
  const word = steps.words[step];
  if (word === null || !isTodo(story.words[word].object)) return null;
  const { object, number } = story.words[word], kind = steps.kinds[step], part = partName(word);
  const [before, after] = [steps.values[step], steps.after[step]].map(blockOf);
  const more = bitsIn(after.bits).filter((bit) => !bitOf(before.bits, bit)), less = bitsIn(before.bits).filter((bit) => !bitOf(after.bits, bit));
  const block = "block " + number, places = (bits) => block + (bits.length ? ", place " + bits.join(", ") : " in vain");
  switch (part + kind) {
    case "blocku": return after.count > before.count ? ["publishes", places(more)] : ["takes", places(less)];
    case "claimsu": return after.count > before.count ? ["gives back", places(less)] : ["claims", places(more)];
    case "blockl": return ["load", block + ": tasks in " + (bitsIn(before.bits).join(" ") || NOTHING) + ", " + before.count + " put"];
    // Places that a block does not have are claimed for ever.
    case "claimsl": return ["load", block + ": claimed are " + (bitsIn(before.bits).filter((bit) => bit < todoTrees.get(object).groups[number]).join(" ") || NOTHING)];
    case "putc": case "takenc": return ["counts", "node " + number + ": " + part + " " + steps.values[step] + " → " + steps.after[step]];
    case "putl": case "takenl": return ["load", "node " + number + ": " + steps.values[step] + " " + part];
    default: return null;
  }
}
