// Trees, read off the memory: which places have tasks, and what the words above them show.
/** The name of a part without its object's and without its number. */
const partName = (word) => story.words[word].name.split(".").pop().replace(/ \d+$/, "");

/** The words of each tree, by what they are and by their numbers. */
const trees = new Map();
story.objects.forEach((object, number) => {
  if (object.what !== "tree" && object.what !== "binary tree") return;
  const of = (name) => numbered(parts[number].filter((word) => partName(word) === name));
  const words = {};
  for (const name of ["root", "mid", "mid-pending", "leaf", "gone", "claims", "pending", "below", "dirty", "state", "task"]) words[name] = of(name);
  trees.set(number, { binary: object.what === "binary tree", groups: object.groups || [], fans: object.fans || [], words });
});
const isTree = (object) => object !== null && trees.has(object);

const bitOf = (bits, place) => Math.floor(bits / 2 ** place) % 2 === 1;
const bitsIn = (bits) => Array.from({ length: 48 }, (_, place) => place).filter((place) => bitOf(bits, place));

/** What a word of two numbers says, whose text begins with a letter. */
function pairOf(value, letter) {
  return typeof value === "string" && value[0] === letter ? value.slice(1).split(",").map(Number) : [0, 0];
}
const pairAt = (word, letter, step) => pairOf(word === undefined ? null : valueAt(word, step), letter);
const numberOf = (word, step) => (word === undefined ? 0 : Number(valueAt(word, step) || 0));

/** The task that was last put to a place, unless that was before it was made new. */
function taskIn(word, since, step) {
  const put = putAt(word, step);
  return put !== null && put[0] >= since ? put[2] : null;
}

/** A tree at a step: boxes with bits and places, from the root down. Each knows its father and its side. */
function treeAt(tree, step) {
  return trees.get(tree).binary ? binaryAt(tree, step) : wideAt(tree, step);
}

function wideAt(tree, step) {
  const { groups, fans, words } = trees.get(tree), boxes = [];
  const word = (name, number, level, father, side, count) => {
    const own = words[name].get(number), [bits, version] = pairAt(own, "v", step);
    const pending = level ? words["mid-pending"].get(number) : undefined;
    boxes.push({
      level, father, side, places: [], versions: [version], words: [own, pending], pending: numberOf(pending, step),
      bits: Array.from({ length: count }, (_, child) => bitOf(bits, child)), name: level ? "mid " + number : "root",
    });
    return boxes.length - 1;
  };
  const fathers = [];
  if (fans.length) {
    const root = word("root", 0, 0, null, 0, fans[0]);
    if (fans.length === 1) groups.forEach((_, leaf) => fathers.push([root, leaf]));
    fans.slice(1).forEach((count, mid) => {
      const own = word("mid", mid, 1, root, mid, count);
      for (let child = 0; child < count; child++) fathers.push([own, child]);
    });
  }
  const level = fans.length ? (fans.length > 1 ? 2 : 1) : 0;
  let first = 0;
  groups.forEach((count, leaf) => {
    const own = words.leaf.get(leaf), claims = words.claims.get(leaf), pending = words.pending.get(leaf);
    const [published, closed] = pairAt(own, "f", step), taken = words.gone.get(leaf), gone = numberOf(taken, step);
    const claimed = numberOf(claims, step), since = renewed(claims, tree, step);
    const places = Array.from({ length: count }, (_, slot) => {
      const out = bitOf(published, slot), left = bitOf(gone, slot), cell = words.task.get(first + slot);
      const state = left ? "taken" : closed ? "closed" : out ? "full" : slot < claimed ? "written" : "free";
      return { state, task: state === "free" || state === "closed" ? null : taskIn(cell, since, step), word: cell };
    });
    first += count;
    const [father, side] = fathers[leaf] || [null, 0];
    boxes.push({ level, father, side, places, bits: [], versions: [], words: [own, taken, claims, pending], pending: numberOf(pending, step), name: "leaf " + leaf });
  });
  return boxes;
}

/** Since when a leaf is as it is: its claims were set to nothing when its tree was made new. */
function renewed(claims, tree, step) {
  const history = claims === undefined ? [] : histories[claims];
  for (let place = lastAt(history, step, (change) => change[0]); place >= 0; place--) {
    if (!history[place][2]) return history[place][0];
  }
  return story.objects[tree].born;
}

const OWN = 2;

function binaryAt(tree, step) {
  const { groups, words } = trees.get(tree), root = words.root.get(0), born = story.objects[tree].born;
  return groups.map((_, index) => {
    const number = index + 1, top = index === 0, leaf = 2 * number > groups.length;
    const cell = words.task.get(index), dirty = words.dirty.get(index), state = words.state.get(index), pending = words.pending.get(index);
    const below = [words.below.get(2 * index), words.below.get(2 * index + 1)];
    const [own, version] = pairAt(root, "v", step), pairs = below.map((word) => pairAt(word, "v", step));
    const was = () => histories[root].some((change) => change[0] <= step && bitOf(pairOf(change[2], "v")[0], OWN));
    const now = top ? (root !== undefined && bitOf(own, OWN) ? 1 : root !== undefined && was() ? 2 : 0) : numberOf(state, step);
    const look = ["free", "full", "taken"][now], place = look === "free" && numberOf(dirty, step) ? "written" : look;
    return {
      level: Math.floor(Math.log2(number)), father: top ? null : (number >> 1) - 1, side: number % 2, name: top ? "root" : "node " + number,
      places: [{ state: place, task: place === "free" ? null : taskIn(cell, born, step), word: cell }],
      bits: leaf ? [] : top ? [bitOf(own, 0), bitOf(own, 1)] : pairs.map(([bits]) => bits === 1),
      versions: leaf ? [] : top ? [version] : pairs.map(([, version]) => version),
      words: top ? [root, dirty] : [...below, dirty, state, pending], pending: numberOf(pending, step),
    };
  });
}

/** Whether nothing can be put or got any more. */
const isClosed = (boxes) => boxes.every((box) => box.places.every((place) => place.state === "taken" || place.state === "closed"));

/** Where head and tail of a list lead: [name of the link, word, tree]. The paper's head leads to a spot, which may have one more. */
function endsOf(list, step) {
  return linksOf(list).flatMap((word) => {
    const to = target(valueAt(word, step)), name = partName(word);
    if (to === null || isTree(to)) return [[name, word, to]];
    const [tree, before] = linksOf(to).map((link) => target(valueAt(link, step)));
    return before === null || before === undefined ? [[name, word, tree]] : [[name, word, tree], ["and", word, before]];
  });
}

/** The trees of a list, in order. */
function treesOf(list, step) {
  const ends = endsOf(list, step).map(([, , tree]) => tree).filter((tree) => tree !== null && tree !== undefined);
  const nextOf = (tree) => linksOf(tree).map((word) => target(valueAt(word, step))).find((to) => to !== null);
  const walk = (tree) => {
    const seen = [];
    for (let next = tree; isTree(next ?? null) && !seen.includes(next); next = nextOf(next)) seen.push(next);
    return seen;
  };
  // The first is the one from which one comes to most.
  return ends.map(walk).sort((a, b) => b.length - a.length)[0] || [];
}

const setText = (bits, most) => (bits === 0 ? NOTHING : bits >= 2 ** most - 1 ? "all" : bitsIn(bits).join(" "));
const treeText = (value, role) => {
  const [low, high] = pairOf(value, role);
  return role === "v" ? (low === 0 ? "nothing" : "tasks in " + setText(low, 48)) + ", v" + high : "put " + setText(low, 32) + (high ? ", closed" : "");
};

const bitText = (value) => pairOf(value, "v")[0] + " v" + pairOf(value, "v")[1];

/** What an access to a tree means where its name and value would not tell: [verb, object], or null. */
function treeDeed(step) {
  const word = steps.words[step];
  if (word === null || !isTree(story.words[word].object)) return null;
  const { role, object, number } = story.words[word], kind = steps.kinds[step], part = partName(word), tree = story.objects[object].name + ".";
  const changes = (letter) => {
    const [low, high] = pairOf(steps.values[step], letter), [low2, high2] = pairOf(steps.after[step], letter);
    return { low, high, low2, high2, more: bitsIn(low2).filter((bit) => !bitOf(low, bit)), less: bitsIn(low).filter((bit) => !bitOf(low2, bit)) };
  };
  const node = (index) => tree + (trees.get(object).binary ? (index ? "node " + (index + 1) : "root") : "place " + index);
  const who = (part, number) => (trees.get(object).binary ? node(number) : tree + (part === "pending" ? "leaf " : "mid ") + number);
  switch (part + kind) {
    case "leafu": {
      const { high, more } = changes("f");
      return [high ? "too late" : "publishes", tree + "leaf " + number + ", place " + more.join(", ")];
    }
    case "goneu": {
      const won = bitsIn(steps.after[step]).filter((bit) => !bitOf(steps.values[step], bit));
      return ["takes", tree + "leaf " + number + (won.length ? ", place " + won.join(", ") : " in vain")];
    }
    case "leafc": return ["closes", tree + "leaf " + number];
    case "claimsu": return ["claims", tree + "leaf " + number + ", place " + steps.values[step]];
    case "dirtyc": return ["claims", node(number)];
    case "statec": return ["takes", node(number)];
    case "states": return ["publishes", node(number)];
    case "rootu": case "rootc": case "midu": case "midc": case "belowc": {
      const { more, less, high2 } = changes("v"), own = trees.get(object).binary && part === "root" ? OWN : -1;
      const name = part === "below" ? node(number >> 1) : tree + part + (part === "mid" ? " " + number : "");
      const child = (bits) => (part === "below" ? ["left", "right"][number % 2] : bits.join(", "));
      if (more.includes(own)) return ["publishes", name];
      if (less.includes(own)) return ["takes", name];
      if (more.length) return ["shows", "child " + child(more) + " in " + name];
      if (less.length) return ["clears", "child " + child(less) + " in " + name];
      return ["renews", name + ": v" + high2];
    }
    case "statel": return ["load", node(number) + ": " + (["no task yet", "a task", "taken"][steps.values[step]] ?? steps.values[step])];
    case "dirtyl": return ["load", node(number) + ": " + (steps.values[step] ? "used" : "unused")];
    case "belowl": return ["load", node(number >> 1) + ", " + ["left", "right"][number % 2] + ": " + bitText(steps.values[step])];
    case "pendingl": case "mid-pendingl": return ["load", who(part, number) + ": " + steps.values[step] + " pending"];
    case "pendingu": case "mid-pendingu": return [steps.after[step] > steps.values[step] ? "pending" : "done", "at " + who(part, number)];
    default: return role === "t" && kind === "w" ? (operationAt(steps.threads[step], step).name.startsWith("put") ? null : ["takes out", node(number) + ": " + valueText((putAt(word, step) || [])[2], "t")]) : null;
  }
}
