// The cursor, and all that moves it: buttons, keys, the bar, the lanes, the address.
const byId = (id) => document.getElementById(id);
const state = { step: -1, playing: false, speed: 5, pane: structures.length ? "picture" : "memory", due: 0, owed: 0 };
const LIST = 75;

/** Moves the cursor. */
function go(step) {
  const to = Math.max(-1, Math.min(COUNT - 1, step));
  if (to === state.step) return;
  state.step = to;
  document.body.classList.add("moved");
  ask();
}

/** Draws with the next frame. */
function ask() {
  if (!state.due) state.due = requestAnimationFrame(draw);
}

function draw() {
  state.due = 0;
  const { step } = state;
  document.body.classList.toggle("fast", state.playing && state.speed > 5);
  drawLanes(step);
  drawOverview(step);
  if (state.pane === "picture") drawPicture(step); else drawMemory(step, true);
  drawList(step);
  byId("scrub").value = String(step);
  byId("scrub").setAttribute("aria-valuetext", step < 0 ? "before the first step" : "step " + step + ": " + sentence(step));
  const time = heading.timed && step >= 0 ? " · " + nanosText(times[step] - START) : "";
  byId("where").textContent = (step < 0 ? "start" : "step " + step) + " of " + (COUNT - 1) + time;
  byId("now").textContent = state.playing ? "" : sentence(step);
  remember();
}

/** The accesses around the cursor, in words. */
function drawList(step) {
  const list = byId("list");
  // It is written anew only now and then.
  const from = Math.max(0, Math.min(Math.floor((step - 25) / 25) * 25, COUNT - LIST)), to = Math.min(COUNT, from + LIST);
  if (list.dataset.from !== String(from) || !list.children.length) {
    list.dataset.from = String(from);
    list.replaceChildren();
    for (let each = from; each < to; each++) list.append(entry(each));
  }
  for (const item of list.children) {
    const number = Number(item.dataset.step);
    item.classList.toggle("future", number > step);
    if (number === step) {
      item.setAttribute("aria-current", "step");
      list.scrollTop = item.offsetTop - list.offsetTop - list.clientHeight * 0.6;
    } else {
      item.removeAttribute("aria-current");
    }
  }
  if (step < 0) list.scrollTop = 0;
}

function entry(step) {
  const item = document.createElement("li"), kind = steps.kinds[step];
  item.dataset.step = String(step);
  item.className = "hue" + (steps.threads[step] % HUES) + ("xj".includes(kind) ? " fails" : "") + ("()".includes(kind) ? " edge" : "") + (ownerDeed(step) ? " deed" : "");
  const [verb, object] = deed(step);
  const make = (name, text) => {
    const made = document.createElement("span");
    made.className = name;
    made.textContent = text;
    return made;
  };
  item.append(make("number", step), make("who", story.threads[steps.threads[step]]), make("verb", verb), make("object", object));
  if (heading.timed && steps.cycles[step] >= 20 && !"()v".includes(kind)) {
    const cost = make("cost", steps.cycles[step]);
    cost.title = steps.cycles[step] + " cycles";
    item.append(cost);
  }
  return item;
}

/** The next step that begins or ends an operation. */
function edge(from, by) {
  let step = from + by;
  while (step >= 0 && step < COUNT && !"()".includes(steps.kinds[step])) step += by;
  return step;
}

function play(on) {
  state.playing = on && COUNT > 0;
  if (on && state.step >= COUNT - 1) state.step = -1;
  const button = byId("play");
  button.setAttribute("aria-pressed", String(state.playing));
  button.setAttribute("aria-label", state.playing ? "Pause" : "Play");
  state.owed = 0;
  if (state.playing) {
    let before = performance.now();
    const turn = (now) => {
      if (!state.playing) return;
      state.owed += Math.min(0.25, (now - before) / 1000) * state.speed;
      before = now;
      const whole = Math.floor(state.owed);
      state.owed -= whole;
      if (whole) go(state.step + whole);
      if (state.step >= COUNT - 1) play(false); else requestAnimationFrame(turn);
    };
    requestAnimationFrame(turn);
  }
  ask();
}

function setSpeed(by) {
  const select = byId("speed");
  select.selectedIndex = Math.max(0, Math.min(select.options.length - 1, select.selectedIndex + by));
  state.speed = Number(select.value);
}

function zoom(by) {
  view.zoom = Math.max(3, Math.min(60, view.zoom * by));
  ask();
}

function show(pane) {
  state.pane = pane;
  for (const each of ["picture", "memory"]) {
    byId(each).hidden = each !== pane;
    byId("tab-" + each).setAttribute("aria-selected", String(each === pane));
    byId("tab-" + each).tabIndex = each === pane ? 0 : -1;
  }
  byId("hint").textContent = pane === "picture"
    ? homes.length ? "A row is a consumer with its chunks; ▲ its index, ✎ who fills it, # the tag; a shield is a hazard pointer."
    : halls.size ? "Round: inside, larger while it runs exit code. Dashed: waits with a ticket. Below, the places of tasks."
    : todoTrees.size ? "A node says how many tasks were put and taken below it, as far as it knows."
    : (nodes.length ? "Arrows are pointers as memory has them now" : "What the lock guards") + (guards.length ? "; a shield is a hazard pointer." : ".")
    : "A box is a cache line, in the colour of who wrote it last.";
  ask();
}

// The address remembers the position: #step=120&view=memory&axis=time.
let remembered = 0;
function remember() {
  clearTimeout(remembered);
  remembered = setTimeout(() => {
    const words = ["step=" + state.step];
    if (state.pane === "memory") words.push("view=memory");
    if (view.axis === "time") words.push("axis=time");
    try { history.replaceState(null, "", "#" + words.join("&")); } catch { /* Some places forbid it. */ }
  }, 250);
}

function recall() {
  const words = new URLSearchParams(location.hash.slice(1));
  if (words.get("axis") === "time" && heading.timed) view.axis = byId("axis").value = "time";
  if (words.get("scheme")) document.documentElement.style.colorScheme = words.get("scheme");
  readColours();
  show(words.get("view") === "memory" || !structures.length ? "memory" : "picture");
  const step = Number(words.get("step"));
  state.step = words.has("step") && Number.isFinite(step) ? Math.max(-1, Math.min(COUNT - 1, Math.trunc(step))) : state.step;
  ask();
}

function restyle() {
  readColours();
  drawLegend();
  ask();
}

const KEYS = {
  ArrowRight: (event) => go(event.shiftKey ? edge(state.step, 1) : state.step + 1),
  ArrowLeft: (event) => go(event.shiftKey ? edge(state.step, -1) : state.step - 1),
  ArrowUp: () => setSpeed(1),
  ArrowDown: () => setSpeed(-1),
  PageDown: () => go(state.step + 20),
  PageUp: () => go(state.step - 20),
  Home: () => go(-1),
  End: () => go(COUNT - 1),
  " ": () => play(!state.playing),
  "+": () => zoom(1.25),
  "-": () => zoom(0.8),
};

document.addEventListener("keydown", (event) => {
  const act = KEYS[event.key], where = event.target;
  if (!act || event.ctrlKey || event.metaKey || event.altKey || where.tagName === "SELECT") return;
  if (event.key === " " && where.tagName === "BUTTON" && where.id !== "play") return;
  if (where.getAttribute && where.getAttribute("role") === "tab" && event.key.startsWith("Arrow")) return;
  event.preventDefault();
  if (event.key !== " ") play(false);
  act(event);
});
byId("first").addEventListener("click", () => go(-1));
byId("last").addEventListener("click", () => go(COUNT - 1));
byId("back").addEventListener("click", (event) => go(event.shiftKey ? edge(state.step, -1) : state.step - 1));
byId("forward").addEventListener("click", (event) => go(event.shiftKey ? edge(state.step, 1) : state.step + 1));
byId("play").addEventListener("click", () => play(!state.playing));
byId("speed").addEventListener("change", () => setSpeed(0));
byId("axis").addEventListener("change", (event) => { view.axis = event.target.value; ask(); });
byId("in").addEventListener("click", () => zoom(1.25));
byId("out").addEventListener("click", () => zoom(0.8));
byId("scrub").addEventListener("input", (event) => { play(false); go(Number(event.target.value)); });
byId("list").addEventListener("click", (event) => {
  const item = event.target.closest("li");
  if (item) { play(false); go(Number(item.dataset.step)); }
});
for (const pane of ["picture", "memory"]) {
  byId("tab-" + pane).addEventListener("click", () => show(pane));
  byId("tab-" + pane).addEventListener("keydown", (event) => {
    if (event.key !== "ArrowLeft" && event.key !== "ArrowRight" || !structures.length) return;
    show(state.pane === "picture" ? "memory" : "picture");
    byId("tab-" + state.pane).focus();
  });
}
lanes.addEventListener("pointerdown", (event) => {
  const place = event.offsetX - GUTTER + view.left;
  if (event.offsetX < GUTTER) return;
  play(false);
  const after = stepAlong(place), before = after - 1;
  go(before >= 0 && (after >= COUNT || place - along(before) < along(after) - place) ? before : after);
});
byId("scheme").addEventListener("click", () => {
  const root = document.documentElement;
  const dark = root.style.colorScheme ? root.style.colorScheme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  root.style.colorScheme = dark ? "light" : "dark";
  restyle();
});
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", restyle);
window.addEventListener("resize", ask);
window.addEventListener("hashchange", recall);
if (!heading.timed) byId("axis").closest("label").hidden = true;
if (!structures.length) byId("tab-picture").hidden = true;
byId("scrub").max = String(COUNT - 1);
recall();
restyle();
