// Steps and values in words.
const NOTHING = "∅";

/** A value as a reader wants it: what it points to, who it is. */
function valueText(value, role, step) {
  if (value === null || value === undefined) return role === "t" ? "no task" : "?";
  const object = target(value);
  if (object !== null) return story.objects[object].name;
  if (role === "o" && ownerOf(value)) return ownerText(ownerOf(value), step === undefined ? COUNT : step);
  if (role === "c" && typeof value === "string") return countOf(value).join(" in lap ");
  if ("vf".includes(role) && typeof value === "string") return treeText(value, role);
  if (role === "m" && ticketsOf(value)) return ticketsText(value);
  if (role === "q") return blockText(value);
  if (role === "s") return value === 1 ? "taken" : "vacant";
  if (typeof value === "string" && value[0] === "t") return story.threads[Number(value.slice(1))];
  if ("lgpeah".includes(role) && typeof value === "number") return NOTHING;
  return String(value);
}

const wordName = (word) => (word === null ? "" : story.words[word].name);
const roleOf = (word) => (word === null ? "-" : story.words[word].role);

/** What a step did, without who: [verb, object]. */
function deed(step) {
  const word = steps.words[step], role = roleOf(word), name = wordName(word);
  const value = valueText(steps.values[step], role, step), after = valueText(steps.after[step], role, step);
  const told = ownerDeed(step) || chunkDeed(step) || treeDeed(step) || roomDeed(step) || todoDeed(step);
  if (told) return told;
  const operation = operationAt(steps.threads[step], step);
  switch (steps.kinds[step]) {
    case "(": return ["begins", operation ? operation.name : ""];
    case ")": return ["ends", operation ? outcome(operation) : ""];
    case "l": return ["load", steps.values[step] === null ? name : name + ": " + value];
    case "s": return ["store", name + " ← " + value];
    case "b": return ["store", name + " ← " + value + ", into its buffer"];
    case "v": return ["visible", name + " = " + value];
    case "c": return ["CAS", name + ": " + value + " → " + after + ", ok"];
    case "x": return ["CAS", name + " fails: it is " + value];
    case "u": return ["RMW", steps.after[step] === null ? name : name + ": " + value + " → " + after];
    case "r": {
      const now = word === null ? null : valueAt(word, step);
      return ["read", now === null ? name : name + ": " + valueText(now, role)];
    }
    case "w":
      // A task that is moved out was there until then.
      if (role === "t" && valueAt(word, step) === null && steps.values[step] !== null) return ["takes", name + ": " + value];
      return ["write", steps.values[step] === null ? name : name + " ← " + value];
    case "f": return ["fence", ""];
    case "g": return ["light fence", ""];
    case "h": return ["heavy fence", ""];
    case "k": return ["takes", name];
    case "j": {
      const holder = word === null ? null : valueAt(word, step);
      const who = typeof holder === "string" ? " by " + valueText(holder, role) : "";
      return ["finds", name + " held" + who];
    }
    case "n": return ["releases", name];
    case "p": return ["park", ""];
    case "q": return ["unpark", ""];
    case "y": return ["waits", ""];
    default: return ["works", ""];
  }
}

/** What an access to a chunk means where its name and value would not tell: [verb, object], or null. */
function chunkDeed(step) {
  const word = steps.words[step];
  if (word === null || !chunks.has(story.words[word].object)) return null;
  const { role, object, number } = story.words[word], chunk = story.objects[object].name, value = steps.values[step];
  switch (role + steps.kinds[step]) {
    case "tr": {
      const put = putAt(word, step);
      return ["takes", chunk + ".slot " + number + (put ? ": " + put[2] : "")];
    }
    case "is": case "ib": {
      const late = steps.kinds[step] === "b" ? ", into its buffer" : "", owner = ownerOf(valueAt(chunks.get(object).owner, step));
      if (owner && !owner.stable && owner.from !== number) return ["copies", "the index of " + consumerName(owner.from, step) + " in " + chunk + ": " + value + late];
      return value > 0 ? ["announces", chunk + ".slot " + (value - 1) + late] : ["store", chunk + ".next " + number + " ← 0" + late];
    }
    case "bu": {
      const won = wonSlots(number, value, steps.after[step]);
      return ["claims", won.length ? chunk + ".slot " + won.join(", ") + " by its bit" : "a slot of " + chunk + " in vain"];
    }
    default: return null;
  }
}

/** The slots whose bits, in the word of that number, are set and were not before. */
function wonSlots(number, before, after) {
  const won = BigInt(after ?? before ?? 0) & ~BigInt(before ?? 0);
  return [...won.toString(2)].reverse().flatMap((bit, place) => (bit === "1" ? [64 * number + place] : []));
}

/** An operation and what came of it. */
function outcome(operation) {
  return operation.result ? operation.name + " → " + operation.result : operation.name;
}

/** A step as a sentence. */
function sentence(step) {
  if (step < 0) return "Before the first step.";
  const [verb, object] = deed(step);
  if (steps.kinds[step] === "v") return story.threads[steps.threads[step]] + "'s store becomes visible: " + object;
  return story.threads[steps.threads[step]] + " " + verb + (object ? " " + object : "");
}

/** What each kind of mark is called, in the order of the legend. */
const KINDS = [
  ["l", "load"], ["s", "store"], ["b", "store into the buffer"], ["v", "becomes visible"],
  ["c", "CAS, RMW"], ["x", "CAS fails"], ["r", "data read"], ["w", "data written"], ["f", "fence"],
  ["!", "steal"], ["k", "lock taken"], ["j", "lock held"], ["n", "unlock"], ["p", "park, wait"],
];
/** Kinds that are drawn alike. */
const ALIKE = { u: "c", g: "f", h: "f", q: "p", y: "p" };
const markOf = (kind) => ALIKE[kind] || kind;
/** The mark of a step: a steal has its own. */
const markAt = (step) => (steals.has(step) ? "!" : steps.kinds[step]);
