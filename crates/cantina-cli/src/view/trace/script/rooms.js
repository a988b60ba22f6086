// Rooms, read off the memory: how many tickets there are for each, who has them, and who is inside.
const lastName = (word) => story.words[word].name.split(".").pop();
const partNamed = (object, name) => parts[object].find((word) => lastName(word) === name);

/** The words that say how often the exit code of a room was begun, by room. */
const exitCodes = new Map();
story.words.forEach((_, word) => {
  // What lies in no object has a number of its own behind it.
  const found = /^exit code (\d+)( \d+)?$/.exec(lastName(word));
  if (found) exitCodes.set(Number(found[1]), word);
});

/** Each structure in rooms, how many there are, and where it says who is inside: in the one word `tickets`, or in the words of each of its `doors`. */
const halls = new Map();
story.objects.forEach((object, number) => {
  const tickets = parts[number].find((word) => story.words[word].role === "m");
  if (tickets !== undefined) {
    const gates = parts[number].filter((word) => lastName(word).startsWith("even gate "));
    halls.set(number, { tickets, batch: partNamed(number, "batch"), rooms: gates.length });
  } else if (object.what === "rooms") {
    const isRoom = (each) => story.objects[each].what === "room";
    const door = (room) => ({ taken: partNamed(room, "taken"), open: partNamed(room, "open"), left: partNamed(room, "left") });
    const doors = story.objects.map((_, each) => each).filter(isRoom).map(door);
    halls.set(number, { total: partNamed(number, "total"), doors, rooms: doors.length });
  }
});
const ROOM_NAMES = { stack: ["put", "get", "tidy"], queue: ["put", "get"], work: ["put", "get"] };

/** What a structure calls a room. */
function roomName(structure, room) {
  const names = ROOM_NAMES[story.objects[structure].what];
  return names ? "room " + room + " (" + names[room] + ")" : "room " + room;
}

/** What a word says: for each room [tickets, opened modulo 4], and as `inside` [how many, of which room]; null if it is none. */
function ticketsOf(value) {
  if (typeof value !== "string" || value[0] !== "m") return null;
  const pairs = (text) => text.split(",").map((pair) => pair.split(".").map(Number));
  const [rooms, inside] = value.slice(1).split(";").map(pairs);
  return Object.assign(rooms, { inside: inside[0] });
}

/** How many there are inside where the word says so many: a batch is one of them, and how many of it have not left is beside it. */
const users = (inside, batch) => (inside && batch ? inside - 1 + batch : inside);

function ticketsText(value) {
  const rooms = ticketsOf(value), [inside, open] = rooms.inside;
  return (inside ? inside + " inside room " + open + ", a batch being one" : "nobody inside") + ", tickets " + rooms.map(([count]) => count).join(", ");
}

/** How a room is at a step: how many tickets wait for it, how many are inside, whether it is open, and what else there is to say. */
function roomAt(structure, room, step) {
  const { tickets, batch, doors } = halls.get(structure);
  if (doors) {
    const [taken, open, left] = ["taken", "open", "left"].map((name) => valueAt(doors[room][name], step) ?? 0);
    return { waiting: taken - open, inside: open - left, open: open !== left, note: "good up to " + open };
  }
  const said = ticketsOf(valueAt(tickets, step));
  if (said === null) return { waiting: 0, inside: 0, open: false, note: "generation 0" };
  const [waiting, opened] = said[room], inside = said.inside[1] === room ? said.inside[0] : 0;
  return { waiting, inside: users(inside, valueAt(batch, step) ?? 0), open: inside > 0, note: "generation " + opened };
}

/** What a step changed: of which room, by how many its tickets and those inside, and whether it was opened; null if it is not about tickets. */
function ticketChange(step) {
  const before = ticketsOf(steps.values[step]), after = ticketsOf(steps.after[step]);
  if (before === null || after === null) return null;
  const changed = before.findIndex(([count, opened], index) => count !== after[index][0] || opened !== after[index][1]);
  const entered = after.inside[0] - before.inside[0];
  if (changed < 0 && entered === 0) return null;
  const room = changed < 0 ? after.inside[1] : changed, [count, opened] = before[room];
  return { room, by: after[room][0] - count, opened: after[room][1] !== opened, entered, inside: after.inside[0], before: before.inside[0] };
}

// When rooms in one word were opened, and when those with tickets were let in then: lists of steps, by structure and room.
const opened = new Map(), letIn = new Map();
for (let step = 0; step < COUNT; step++) {
  const word = steps.words[step], hall = word === null ? undefined : halls.get(story.words[word].object);
  const change = hall && hall.tickets === word && "cu".includes(steps.kinds[step]) ? ticketChange(step) : null;
  if (change === null || !(change.opened || change.by < 0)) continue;
  const key = story.words[word].object + " " + change.room;
  for (const [when, happened] of [[opened, change.opened], [letIn, change.by < 0]]) {
    if (!when.has(key)) when.set(key, []);
    if (happened) when.get(key).push(step);
  }
}

/** The first of these steps from that one on, or Infinity. */
const firstFrom = (list, step) => (list && list.find((each) => each >= step)) ?? Infinity;

/** Whether a ticket that was taken at a step, of that number where tickets have numbers, is good. */
function isGood(structure, { room, at, number }, step) {
  const { doors } = halls.get(structure), key = structure + " " + room;
  return doors ? (valueAt(doors[room].open, step) ?? 0) >= number : firstFrom(letIn.get(key), firstFrom(opened.get(key), at + 1)) <= step;
}

/** What a step of a thread does in rooms: the room of a ticket that it takes, of which it goes in without one, or whose exit code it runs, or that it leaves or ends. */
function moveAt(structure, step) {
  const word = steps.words[step], kind = steps.kinds[step], { tickets, batch, doors, total } = halls.get(structure);
  if (word === null) return {};
  if ("sb".includes(kind)) {
    for (const [room, runs] of exitCodes) if (runs === word) return { closes: room };
  }
  if (!"cu".includes(kind)) return {};
  if (!doors) {
    if (word === batch) return { leaves: true };
    const change = word === tickets ? ticketChange(step) : null;
    if (change === null) return {};
    if (change.by === 1) return { takes: change.room };
    if (change.entered < 0) return { leaves: true, ends: change.inside === 0 };
    return change.entered > 0 && change.by === 0 ? { enters: change.room } : {};
  }
  if (word === total) return { ends: steps.after[step] < steps.values[step] };
  const room = doors.findIndex(({ taken, left }) => taken === word || left === word);
  if (room < 0) return {};
  return doors[room].taken === word ? { takes: room, number: steps.after[step] } : { leaves: true };
}

/** Where a thread is at a step: { room, inside, closing }, or null if it has no ticket. Who changes rooms is inside the one until it has left it. */
function stayOf(structure, thread, step) {
  const own = ownSteps[thread], operation = operationAt(thread, step);
  if (operation === null || (operation.to !== null && operation.to <= step)) return null;
  let room = null, ticket = null, closing = null;
  for (let place = lastAt(own, operation.from - 1, (each) => each) + 1; place < own.length && own[place] <= step; place++) {
    const at = own[place], { takes, enters, leaves, closes, ends, number } = moveAt(structure, at);
    // It was let in before it did this.
    if (room === null && ticket !== null && isGood(structure, ticket, at - 1)) [room, ticket] = [ticket.room, null];
    if (takes !== undefined) ticket = { room: takes, at, number };
    if (enters !== undefined) room = enters;
    if (leaves) room = null;
    if (closes !== undefined) closing = closes;
    if (ends) closing = null;
  }
  if (closing !== null) return { room: closing, inside: true, closing: true };
  if (room !== null) return { room, inside: true, closing: false };
  return ticket === null ? null : { room: ticket.room, inside: isGood(structure, ticket, step), closing: false };
}

/** Whether a word says how many tasks there are: only those inside look at it. */
const isCounter = (word) => ["top", "puts", "gets"].includes(lastName(word));

/** What an access to tickets means: [verb, object], or null. */
function roomDeed(step) {
  const word = steps.words[step], kind = steps.kinds[step];
  if (word === null || !halls.size) return null;
  for (const [room, runs] of exitCodes) {
    if (runs === word && "sb".includes(kind)) return ["runs", "the exit code of room " + room + ", for the " + steps.values[step] + ". time"];
  }
  for (const [structure, { doors, total }] of halls) {
    if (doors) return doorDeed(structure, doors, total, step);
  }
  const hall = halls.get(story.words[word].object);
  if (hall && hall.batch === word && "cu".includes(kind)) return ["leaves", "its batch: " + (steps.after[step] || "nobody") + " of it still inside"];
  if (!hall || roleOf(word) !== "m" || !"cu".includes(kind)) return null;
  const change = ticketChange(step);
  if (change === null) return null;
  const name = roomName(story.words[word].object, change.room);
  if (change.opened) return ["opens", change.by < 0 ? name + " for " + -change.by + " with tickets" : name];
  if (change.entered < 0) return ["leaves", name + ": " + (change.inside || "nobody") + " still inside"];
  if (change.by < 0) return ["lets in", -change.by + " with tickets, to " + name];
  if (change.by > 0) return ["takes", "a ticket for " + name];
  return change.before ? ["joins", "those inside " + name] : ["enters", name + ", which nobody wants"];
}

/** The same of rooms that are counted. */
function doorDeed(structure, doors, total, step) {
  const word = steps.words[step], kind = steps.kinds[step], value = steps.values[step], after = steps.after[step];
  if (word === total && "cu".includes(kind)) return after > value ? ["counts", "its ticket: " + after + " in all"] : ["ends", "a batch of " + (value - after) + ": " + (after || "none") + " left"];
  const room = doors.findIndex(({ taken, open, left }) => [taken, open, left].includes(word));
  if (room < 0) return null;
  const name = roomName(structure, room), { taken, open } = doors[room];
  if (word === open) return "sb".includes(kind) ? ["opens", name + " for tickets up to " + value] : null;
  if (!"cu".includes(kind)) return null;
  if (word === taken) return ["takes", "ticket " + after + " for " + name];
  const inside = (valueAt(open, step) ?? 0) - after;
  return ["leaves", name + ": " + (inside || "nobody") + " still inside"];
}
