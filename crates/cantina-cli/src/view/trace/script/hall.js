// Rooms side by side, with those inside and those who wait for them, and the tasks below.
const ROOM = 216, ROOM_TALL = 92, USER = 9, PLACE = 44;

/** A structure in rooms, as large as there is room for. */
function drawHallIn(pane, step, touched) {
  const [structure] = halls.keys(), { rooms } = halls.get(structure);
  // Many rooms stand in rows.
  const columns = Math.min(rooms, 3), rows = Math.ceil(rooms / columns);
  const below = 40 + rows * (ROOM_TALL + 22), height = below + 80, wanted = 24 + columns * (ROOM + 24);
  const scale = Math.max(0.8, Math.min(1.4, (pane.clientHeight - 16) / height, (pane.clientWidth - 8) / wanted));
  const width = Math.max(wanted, (pane.clientWidth - 8) / scale);
  const stays = story.threads.map((_, thread) => stayOf(structure, thread, step));
  place("title " + structure, 0, 0, "title", story.objects[structure].name, () => [element("text", { x: 12, y: 24 }, story.objects[structure].name)]);
  for (let room = 0; room < rooms; room++) {
    const x = 12 + (room % columns) * (ROOM + 24), y = 40 + Math.floor(room / columns) * (ROOM_TALL + 22);
    drawRoom(structure, room, x, y, stays, step, touched);
  }
  drawPlaces(structure, 12, below, width - 24, step, touched);
  finishDrawing(width, height, scale, describeHall(structure, rooms, stays));
}

const whoIs = (stays, room, inside) => stays.flatMap((stay, thread) => (stay !== null && stay.room === room && stay.inside === inside ? [thread] : []));

/** Whether a step touches what says how a room is. */
function isAbout(structure, room, word) {
  const { tickets, doors } = halls.get(structure);
  return word !== null && (word === tickets || word === exitCodes.get(room) || (doors !== undefined && Object.values(doors[room]).includes(word)));
}

function drawRoom(structure, room, x, y, stays, step, touched) {
  const { waiting, inside, open, note } = roomAt(structure, room, step);
  const within = whoIs(stays, room, true), before = whoIs(stays, room, false);
  const closes = within.filter((thread) => stays[thread].closing), runs = exitCodes.has(room) ? valueAt(exitCodes.get(room), step) ?? 0 : null;
  const hot = isAbout(structure, room, touched.word) ? hotLook(touched, touched.word) : "";
  const state = [waiting, note, inside, open, within.join(), before.join(), closes.join(), runs].join("|");
  place("room " + structure + " " + room, x, y, "room" + (open || closes.length ? " open" : "") + hot, state, () => {
    const made = [
      element("rect", { width: ROOM, height: ROOM_TALL, rx: 8 }),
      element("text", { class: "name", x: 10, y: 17 }, roomName(structure, room)),
      element("text", { class: "count", x: ROOM - 10, y: 17 }, closes.length ? "exit code runs" : open ? inside + " inside" : "closed"),
      element("text", { class: "note", x: 10, y: ROOM_TALL - 30 }, "tickets " + waiting),
      element("text", { class: "note count", x: ROOM - 10, y: ROOM_TALL - 9 }, note),
    ];
    if (runs !== null) made.push(element("text", { class: "note count", x: ROOM - 10, y: ROOM_TALL - 30 }, "exit code: " + runs));
    within.forEach((thread, index) => made.push(user(thread, 20 + index * 26, 40, "user" + (closes.includes(thread) ? " closing" : ""))));
    before.forEach((thread, index) => made.push(user(thread, 20 + index * 26, ROOM_TALL - 13, "user ticket")));
    return made;
  });
}

/** A thread: round inside, with a ticket outside; larger while it runs exit code. */
function user(thread, x, y, look) {
  const group = element("g", { class: look + threadStyle(thread), transform: "translate(" + x + "," + y + ")" });
  const waits = look.endsWith("ticket"), closes = look.endsWith("closing");
  const shape = waits ? element("rect", { x: -11, y: -8, width: 22, height: 16, rx: 3 }) : element("circle", { r: closes ? USER + 4 : USER });
  const text = story.threads[thread] + (waits ? " has a ticket and waits" : closes ? " runs exit code" : " is inside");
  group.append(shape, element("text", { y: 4 }, story.threads[thread]), element("title", {}, text));
  return group;
}

/** The counters, and the places that ever hold a task in this run, those with one filled. */
function drawPlaces(structure, x, y, width, step, touched) {
  const counters = parts[structure].filter((word) => isCounter(word));
  counters.forEach((word, index) => {
    const name = story.words[word].name.split(".").pop(), value = valueAt(word, step);
    place("counter " + word, x + index * 90, y, "chip" + hotLook(touched, word), name + value, () => [element("text", { x: 0, y: 12 }, name + " " + (value ?? 0))]);
  });
  const used = parts[structure].filter((word) => roleOf(word) === "t").sort((a, b) => story.words[a].number - story.words[b].number);
  const room = Math.max(3, Math.floor(width / PLACE)), shown = elide(used, room, [used.indexOf(touched.word)]);
  shown.forEach((word, index) => {
    if (word === null) return place("more places " + index, x + index * PLACE, y + 20, "more", "", () => [element("text", { x: PLACE / 2, y: 20 }, "…")]);
    const value = valueAt(word, step), { number } = story.words[word];
    place("place " + word, x + index * PLACE, y + 20, "node" + (value === null ? " empty" : " full") + hotLook(touched, word), String(value), () => [
      element("rect", { width: PLACE - 6, height: 30, rx: 5 }),
      element("text", { class: "task", x: (PLACE - 6) / 2, y: 20 }, value === null ? "–" : String(value)),
      element("title", {}, "place " + number),
    ]);
  });
}

/** The picture in words. */
function describeHall(structure, rooms, stays) {
  const names = (threads) => (threads.length ? threads.map((thread) => story.threads[thread]).join(", ") : "nobody");
  const closing = (room) => (stays.some((stay) => stay !== null && stay.room === room && stay.closing) ? ", exit code runs" : "");
  return Array.from({ length: rooms }, (_, room) => roomName(structure, room) + closing(room) + ": inside " + names(whoIs(stays, room, true)) + ", waiting " + names(whoIs(stays, room, false))).join(". ");
}
