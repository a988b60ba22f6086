// The lanes: a row for each thread, on a canvas that only draws what can be seen.
const GUTTER = 54, AXIS = 20;
/** Rows are between these high; from the second on there is room for text. */
const ROWS = [10, 34, 46];
const lanes = document.getElementById("lanes");
const overview = document.getElementById("overview");
const view = { axis: "steps", zoom: 15, left: 0 };
let ink = {};

/** The colours of the page, which a canvas cannot ask for by name. */
function readColours() {
  const probe = document.createElement("span");
  document.body.append(probe);
  const colour = (name) => {
    probe.style.color = "var(--" + name + ")";
    return getComputedStyle(probe).color;
  };
  ink = { hues: [] };
  for (const name of ["paper", "card", "ink", "muted", "line", "grid", "fail"]) ink[name] = colour(name);
  for (let hue = 0; hue < HUES; hue++) ink.hues.push(colour("hue" + hue));
  probe.remove();
}

const hueOf = (thread) => ink.hues[thread % HUES];
const rowHeight = () => Math.max(ROWS[0], Math.min(ROWS[2], Math.floor((window.innerHeight * 0.42 - AXIS) / story.threads.length)));
/** Where the marks of a row are. */
const baseOf = (row) => (row >= ROWS[1] ? row - 14 : row / 2);

/** Where a step is on the axis, in pixels from its beginning. */
function along(step) {
  if (view.axis === "steps" || COUNT < 2) return (step + 1) * view.zoom;
  const length = COUNT * view.zoom, all = Math.max(1, times[COUNT - 1] - START);
  return step < 0 ? 0 : view.zoom + ((times[step] - START) / all) * length;
}

/** The first step at or after a place on the axis. */
function stepAlong(place) {
  let low = 0, high = COUNT;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (along(middle) < place) low = middle + 1; else high = middle;
  }
  return low;
}

/** Fits a canvas to its place, sharp on every screen. */
function fit(canvas, width, height) {
  const ratio = window.devicePixelRatio || 1;
  if (canvas.width !== Math.round(width * ratio) || canvas.height !== Math.round(height * ratio)) {
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(height * ratio);
    canvas.style.height = height + "px";
  }
  const pen = canvas.getContext("2d");
  pen.setTransform(ratio, 0, 0, ratio, 0, 0);
  pen.clearRect(0, 0, width, height);
  return pen;
}

/** Draws the mark of a kind around a point. */
function drawMark(pen, kind, x, y, colour) {
  pen.strokeStyle = pen.fillStyle = colour;
  pen.lineWidth = 1.6;
  pen.beginPath();
  switch (markOf(kind)) {
    case "l": pen.arc(x, y, 3.6, 0, 7); pen.stroke(); break;
    case "s": pen.rect(x - 3.8, y - 3.8, 7.6, 7.6); pen.fill(); break;
    case "b": pen.rect(x - 3.4, y - 3.4, 6.8, 6.8); pen.stroke(); break;
    case "v": pen.moveTo(x, y - 5); pen.lineTo(x + 5, y + 3.6); pen.lineTo(x - 5, y + 3.6); pen.fill(); break;
    case "c": pen.arc(x, y, 5.2, 0, 7); pen.fill(); break;
    case "!":
      pen.moveTo(x, y - 7.5); pen.lineTo(x + 7.5, y); pen.lineTo(x, y + 7.5); pen.lineTo(x - 7.5, y);
      pen.fill();
      break;
    case "x":
      pen.strokeStyle = ink.fail;
      pen.lineWidth = 2.4;
      pen.moveTo(x - 4, y - 4); pen.lineTo(x + 4, y + 4);
      pen.moveTo(x + 4, y - 4); pen.lineTo(x - 4, y + 4);
      pen.stroke();
      break;
    case "r": pen.arc(x, y, 2.2, 0, 7); pen.stroke(); break;
    case "w": pen.arc(x, y, 2.8, 0, 7); pen.fill(); break;
    case "f": pen.rect(x - 1.3, y - 7, 2.6, 14); pen.fill(); break;
    case "k": case "j": case "n": drawPadlock(pen, markOf(kind), x, y); break;
    case "p": pen.rect(x - 4, y - 4, 2.4, 8); pen.rect(x + 1.6, y - 4, 2.4, 8); pen.fill(); break;
    case "(": case ")": break;
    default: pen.rect(x - 1.5, y - 1.5, 3, 3); pen.fill();
  }
}

function drawPadlock(pen, kind, x, y) {
  if (kind === "j") pen.strokeStyle = ink.fail;
  pen.lineWidth = 1.5;
  pen.arc(x + (kind === "n" ? 3 : 0), y - 1.5, 2.8, Math.PI, 0);
  pen.stroke();
  pen.beginPath();
  pen.rect(x - 4, y - 1, 8, 6);
  if (kind === "j") pen.stroke(); else pen.fill();
}

/** Draws the lanes with the cursor at a step, kept in the middle of what is shown. */
function drawLanes(cursor) {
  const frame = document.getElementById("lanes-frame");
  const width = frame.clientWidth, row = rowHeight();
  const height = AXIS + story.threads.length * row;
  const pen = fit(lanes, width, height);
  const seen = width - GUTTER;
  const length = along(COUNT - 1) + view.zoom;
  view.left = Math.max(0, Math.min(along(cursor) - seen * 0.55, length - seen));
  const x = (step) => GUTTER + along(step) - view.left;
  const from = Math.max(0, stepAlong(view.left) - 1), to = Math.min(COUNT, stepAlong(view.left + seen) + 1);
  drawAxis(pen, from, to, x, width, height);
  pen.save();
  pen.beginPath();
  pen.rect(GUTTER, 0, seen, height);
  pen.clip();
  story.threads.forEach((_, thread) => drawSpans(pen, thread, cursor, from, to, x, row));
  const base = (step) => AXIS + steps.threads[step] * row + baseOf(row);
  for (let step = from; step < to; step++) {
    pen.globalAlpha = step > cursor ? 0.34 : 1;
    drawMark(pen, markAt(step), x(step), base(step), hueOf(steps.threads[step]));
  }
  pen.globalAlpha = 1;
  drawCursor(pen, cursor, x, base, height);
  pen.restore();
  drawGutter(pen, cursor, row);
  if (cursor >= 0 && frame.scrollHeight > frame.clientHeight) {
    const at = AXIS + steps.threads[cursor] * row;
    frame.scrollTop = Math.max(Math.min(frame.scrollTop, at - AXIS), at + row - frame.clientHeight);
  }
}

function drawAxis(pen, from, to, x, width, height) {
  pen.font = "11px " + FONT;
  pen.textAlign = "center";
  pen.textBaseline = "middle";
  pen.fillStyle = ink.muted;
  pen.strokeStyle = ink.grid;
  pen.lineWidth = 1;
  const apart = Math.max(1, Math.ceil(80 / view.zoom));
  const every = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000].find((each) => each >= apart) || 2000;
  let last = -Infinity;
  for (let step = Math.ceil(from / every) * every; step < to; step += every) {
    const place = Math.round(x(step)) + 0.5;
    if (place < GUTTER + 18 || place > width - 18 || place - last < 60) continue;
    last = place;
    pen.beginPath();
    pen.moveTo(place, AXIS - 3);
    pen.lineTo(place, height);
    pen.stroke();
    pen.fillText(view.axis === "steps" ? String(step) : nanosText(times[step] - START), place, 8);
  }
}

/** The operations of a thread, and what its stores wait for. */
function drawSpans(pen, thread, cursor, from, to, x, row) {
  const own = ownOperations[thread], top = AXIS + thread * row;
  const first = Math.max(0, lastAt(own, from, (operation) => operation.from));
  for (let place = first; place < own.length && own[place].from <= to; place++) {
    const operation = own[place], ended = operation.to === null ? COUNT : operation.to;
    const left = x(operation.from) - 6, right = x(Math.min(ended, COUNT - 1)) + 6;
    pen.globalAlpha = operation.from > cursor ? 0.4 : 1;
    pen.beginPath();
    const inset = row >= ROWS[1] ? 3 : 1;
    pen.roundRect(left, top + inset, Math.max(6, right - left), row - 2 * inset, 6);
    pen.fillStyle = withAlpha(hueOf(thread), 0.13);
    pen.fill();
    pen.strokeStyle = withAlpha(hueOf(thread), 0.5);
    pen.lineWidth = 1;
    pen.stroke();
    if (row >= ROWS[1]) drawSpanText(pen, operation, cursor, Math.max(left, GUTTER) + 7, right - 5, top + 14);
  }
  drawWaits(pen, thread, cursor, from, to, x, top + baseOf(row));
  pen.lineWidth = 1.4;
  const base = top + baseOf(row);
  for (let place = Math.max(0, lastAt(buffered[thread], from, (store) => store.from) - 40); place < buffered[thread].length; place++) {
    const store = buffered[thread][place];
    if (store.from > to) break;
    if (store.to < from) continue;
    pen.globalAlpha = store.from > cursor ? 0.25 : 0.75;
    pen.strokeStyle = hueOf(thread);
    pen.setLineDash([2, 3]);
    pen.beginPath();
    pen.moveTo(x(store.from), base + 5);
    pen.lineTo(x(store.from), base + 8.5);
    pen.lineTo(x(Math.min(store.to, COUNT - 1)), base + 8.5);
    pen.lineTo(x(Math.min(store.to, COUNT - 1)), base + 4);
    pen.stroke();
    pen.setLineDash([]);
  }
  pen.globalAlpha = 1;
}

/** What a thread waits for others to do. */
function drawWaits(pen, thread, cursor, from, to, x, y) {
  const own = ownSteps[thread];
  pen.strokeStyle = ink.fail;
  pen.lineWidth = 1.6;
  pen.setLineDash([1, 4]);
  for (let place = Math.max(0, lastAt(own, from, (step) => step)); place < own.length && own[place] <= to; place++) {
    if (!"jp".includes(steps.kinds[own[place]])) continue;
    pen.globalAlpha = own[place] > cursor ? 0.3 : 0.9;
    pen.beginPath();
    pen.moveTo(x(own[place]) + 9, y + 1);
    pen.lineTo((place + 1 < own.length ? x(own[place + 1]) : x(COUNT - 1)) - 9, y + 1);
    pen.stroke();
  }
  pen.setLineDash([]);
  pen.globalAlpha = 1;
}

function drawSpanText(pen, operation, cursor, left, right, y) {
  if (right - left < 20) return;
  const over = operation.to !== null && operation.to <= cursor;
  pen.save();
  pen.beginPath();
  pen.rect(left - 2, y - 9, right - left + 2, 18);
  pen.clip();
  pen.textAlign = "left";
  pen.textBaseline = "middle";
  pen.font = "600 12px " + FONT;
  pen.fillStyle = ink.ink;
  pen.fillText(over ? outcome(operation) : operation.name, left, y);
  pen.restore();
}

function drawCursor(pen, cursor, x, base, height) {
  const place = x(cursor);
  pen.strokeStyle = ink.ink;
  pen.lineWidth = 1.5;
  pen.beginPath();
  pen.moveTo(place, 14);
  pen.lineTo(place, height);
  pen.stroke();
  if (cursor < 0) return;
  pen.beginPath();
  pen.arc(place, base(cursor), 9.5, 0, 7);
  pen.fillStyle = ink.card;
  pen.fill();
  pen.strokeStyle = hueOf(steps.threads[cursor]);
  pen.lineWidth = 2;
  pen.stroke();
  drawMark(pen, markAt(cursor), place, base(cursor), hueOf(steps.threads[cursor]));
}

/** The threads' names, and how many stores wait in their buffers. */
function drawGutter(pen, cursor, row) {
  pen.clearRect(0, AXIS, GUTTER - 8, story.threads.length * row);
  pen.textAlign = "left";
  pen.textBaseline = "middle";
  story.threads.forEach((name, thread) => {
    const y = AXIS + thread * row + (row >= ROWS[1] ? 16 : row / 2);
    pen.fillStyle = hueOf(thread);
    pen.beginPath();
    pen.arc(10, y, Math.min(5, row / 2 - 1), 0, 7);
    pen.fill();
    pen.font = (cursor >= 0 && steps.threads[cursor] === thread ? "700" : "500") + " " + Math.min(13, row) + "px " + FONT;
    pen.fillStyle = ink.ink;
    pen.fillText(name, 20, y + 0.5);
    if (row < ROWS[1]) return;
    const waiting = bufferAt(thread, cursor).length;
    pen.strokeStyle = hueOf(thread);
    pen.lineWidth = 1.2;
    for (let store = 0; store < Math.min(waiting, 6); store++) pen.strokeRect(6 + store * 7, y + 14, 5, 5);
  });
}

/** The operations of the whole run, which are drawn once. */
const glance = { canvas: document.createElement("canvas"), state: "" };
function drawGlance(width, height, x) {
  const state = [width, height, view.axis, window.devicePixelRatio, ink.hues.join()].join();
  if (glance.state === state) return;
  glance.state = state;
  const pen = fit(glance.canvas, width, height), row = (height - 4) / story.threads.length;
  for (const operation of story.operations) {
    const left = x(along(operation.from)), right = x(along(operation.to === null ? COUNT - 1 : operation.to));
    pen.fillStyle = hueOf(operation.thread);
    pen.fillRect(left, 2 + operation.thread * row, Math.max(1, right - left - 0.5), Math.max(1, row - 1));
  }
  pen.fillStyle = ink.ink;
  for (const step of steals) pen.fillRect(x(along(step)) - 1, 2 + steps.threads[step] * row, 2, Math.max(2, row - 1));
}

/** The whole run at a glance, with the part that the lanes show. */
function drawOverview(cursor) {
  const width = overview.parentElement.clientWidth, height = 26;
  const all = along(COUNT - 1) + view.zoom, x = (place) => (place / all) * width;
  drawGlance(width, height, x);
  const pen = fit(overview, width, height), ratio = glance.canvas.width / width;
  const past = Math.max(1, Math.min(width - 1, x(along(cursor))));
  for (const [from, to, alpha] of [[0, past, 0.8], [past, width, 0.3]]) {
    pen.globalAlpha = alpha;
    pen.drawImage(glance.canvas, from * ratio, 0, (to - from) * ratio, glance.canvas.height, from, 0, to - from, height);
  }
  pen.globalAlpha = 1;
  const seen = lanes.clientWidth - GUTTER;
  pen.strokeStyle = ink.muted;
  pen.lineWidth = 1;
  pen.strokeRect(x(view.left) + 0.5, 0.5, Math.min(width - 1, x(seen)), height - 1);
  pen.fillStyle = ink.ink;
  pen.fillRect(x(along(cursor)) - 1, 0, 2.5, height);
}

const FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, sans-serif";
const withAlpha = (colour, alpha) => colour.replace("rgb(", "rgba(").replace(")", ", " + alpha + ")");
const nanosText = (nanos) => (nanos < 1000 ? Math.round(nanos) + " ns" : (nanos / 1000).toFixed(2) + " µs");

/** The marks and their names below the lanes: those that occur. */
function drawLegend() {
  const present = new Set([...steps.kinds].map(markOf));
  if (steals.size) present.add("!");
  const legend = document.getElementById("legend");
  legend.replaceChildren(...KINDS.filter(([kind]) => present.has(kind)).map(([kind, name]) => {
    const item = document.createElement("li"), sample = document.createElement("canvas");
    sample.style.width = "16px";
    sample.setAttribute("aria-hidden", "true");
    drawMark(fit(sample, 16, 16), kind, 8, 8.5, ink.ink);
    item.append(sample, name);
    return item;
  }));
}
