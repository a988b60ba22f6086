// The story, and what it says of any step. Step -1 is before the first.
const heading = JSON.parse(document.getElementById("heading").textContent);
const story = JSON.parse(document.getElementById("story").textContent);
const steps = story.steps;
const COUNT = steps.threads.length;
const HUES = 8;

/** The last place in a sorted list whose `key` is at most `step`; -1 if there is none. */
function lastAt(list, step, key) {
  let low = 0, high = list.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (key(list[middle]) <= step) low = middle + 1; else high = middle;
  }
  return low - 1;
}

// What each word was when: the changes are in order already.
const histories = story.words.map(() => []);
for (const change of story.changes) histories[change[1]].push(change);
// What a word was before anybody changed it shows when it is first looked at. Whoever has a store in its
// buffer may look at that instead.
{
  const settled = new Set();
  for (let step = 0; step < COUNT; step++) {
    const word = steps.words[step], value = steps.values[step];
    if (word === null || settled.has(word)) continue;
    settled.add(word);
    const first = histories[word].length ? histories[word][0][0] : Infinity;
    if ("lxcu".includes(steps.kinds[step]) && value !== null && first >= step) {
      histories[word].unshift([story.words[word].born, word, value, null]);
    }
  }
}

/** The last change of a word up to a step: [step, word, value, thread]. */
function changeAt(word, step) {
  const history = histories[word];
  const place = lastAt(history, step, (change) => change[0]);
  return place < 0 ? null : history[place];
}

function valueAt(word, step) {
  const change = changeAt(word, step);
  return change ? change[2] : null;
}

/** Whether a word or an object is there. */
function lives(thing, step) {
  return thing.born <= step && (thing.gone === null || thing.gone > step);
}

/** The object that a value points to. */
function target(value) {
  return typeof value === "string" && value[0] === "@" ? Number(value.slice(1)) : null;
}

// The words of each object, in order.
const parts = story.objects.map(() => []);
story.words.forEach((word, number) => {
  if (word.object !== null) parts[word.object].push(number);
});
const links = parts.map((words) => words.filter((word) => story.words[word].role === "l"));
const linksOf = (object) => links[object];
const tasks = parts.map((words) => words.find((word) => story.words[word].role === "t"));
const taskOf = (object) => tasks[object];
const guards = story.words.map((_, number) => number).filter((word) => story.words[word].role === "g");

// The steps of each thread, and its operations.
const ownSteps = story.threads.map(() => []);
for (let step = 0; step < COUNT; step++) ownSteps[steps.threads[step]].push(step);
const ownOperations = story.threads.map(() => []);
story.operations.forEach((operation, number) => {
  operation.number = number;
  ownOperations[operation.thread].push(operation);
});

/** The operation that a thread is in at a step, or was in last. */
function operationAt(thread, step) {
  const own = ownOperations[thread];
  const place = lastAt(own, step, (operation) => operation.from);
  return place < 0 ? null : own[place];
}

// Stores on their way: each buffered one, and the step that makes it visible.
const buffered = story.threads.map(() => []);
{
  const waiting = story.threads.map(() => []);
  for (let step = 0; step < COUNT; step++) {
    const thread = steps.threads[step];
    if (steps.kinds[step] === "b") {
      const store = { from: step, to: COUNT, word: steps.words[step], value: steps.values[step] };
      waiting[thread].push(store);
      buffered[thread].push(store);
    } else if (steps.kinds[step] === "v") {
      const place = waiting[thread].findIndex((store) => store.word === steps.words[step]);
      if (place >= 0) waiting[thread].splice(place, 1)[0].to = step;
    }
  }
}

/** The stores in a thread's buffer. */
function bufferAt(thread, step) {
  const last = lastAt(buffered[thread], step, (store) => store.from);
  // A buffer holds few stores, and they leave it in order.
  const recent = buffered[thread].slice(Math.max(0, last - 63), last + 1);
  return recent.filter((store) => store.to > step);
}

// Who touched each line, in order: [step, thread, whether it wrote].
const WRITES = "svcuwkn";
const lineCount = story.words.reduce((most, word) => Math.max(most, word.line + 1), 0);
const touches = Array.from({ length: lineCount }, () => []);
for (let step = 0; step < COUNT; step++) {
  const word = steps.words[step], kind = steps.kinds[step];
  if (word !== null && kind !== "b") {
    touches[story.words[word].line].push([step, steps.threads[step], WRITES.includes(kind)]);
  }
}

/** Who wrote a line last, and who has looked at it since. */
function sharingAt(line, step) {
  const list = touches[line];
  const readers = new Set();
  for (let place = lastAt(list, step, (touch) => touch[0]); place >= 0; place--) {
    const [, thread, wrote] = list[place];
    if (wrote) return { writer: thread, readers };
    readers.add(thread);
  }
  return { writer: null, readers };
}

// What a structure holds, where it says so.
const contents = new Map();
for (const entry of story.contents) {
  if (!contents.has(entry[1])) contents.set(entry[1], []);
  contents.get(entry[1]).push(entry);
}

/** The threads that stand before a lock. */
function waitingFor(lock, step) {
  return story.threads.map((_, thread) => thread).filter((thread) => {
    const own = ownSteps[thread];
    for (let place = lastAt(own, step, (each) => each), seen = 0; place >= 0 && seen < 400; place--, seen++) {
      const kind = steps.kinds[own[place]];
      if ("()".includes(kind)) return false;
      if (steps.words[own[place]] === lock && "jkn".includes(kind)) return kind === "j";
    }
    return false;
  });
}

// Times. Clocks of threads run ahead where nothing is shared: what comes later bounds what is shown.
const times = new Float64Array(COUNT);
for (let step = COUNT - 1, bound = Infinity; step >= 0; step--) {
  bound = Math.min(bound, steps.nanos[step]);
  times[step] = bound;
}
const START = COUNT ? times[0] : 0;
