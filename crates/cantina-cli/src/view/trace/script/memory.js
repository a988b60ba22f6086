// The memory: every line that was touched, its words and their values, who wrote it last and who has
// looked at it since. This needs no description of the pool.
const memory = document.getElementById("memory");
const lineWords = Array.from({ length: lineCount }, () => []);
story.words.forEach((word, number) => lineWords[word.line].push(number));
lineWords.forEach((words) => words.sort((a, b) => story.words[a].offset - story.words[b].offset || a - b));
/** When each line is first worth showing: with its first touch in a step, or with what lies there. */
const lineFirst = touches.map((list, line) =>
  Math.min(list.length ? list[0][0] : Infinity, ...lineWords[line].filter((word) => roleOf(word) !== "-").map((word) => story.words[word].born)));
const boxes = [];

function buildMemory() {
  memory.replaceChildren(...lineWords.map((_, line) => {
    const box = document.createElement("div"), head = document.createElement("p"), rows = document.createElement("dl");
    box.className = "line";
    box.append(head, rows);
    boxes.push({ box, head, rows, state: "" });
    return box;
  }));
}

/** Shows the memory as it is at a step. */
function drawMemory(step, follow) {
  if (!boxes.length) buildMemory();
  const hot = step < 0 ? null : steps.words[step];
  boxes.forEach((each, line) => {
    const shown = lineFirst[line] <= step || (lineFirst[line] === -1);
    each.box.hidden = !shown;
    if (!shown) return;
    const here = lineWords[line].filter((word) => lives(story.words[word], step));
    if (!here.length) {
      each.box.hidden = true;
      return;
    }
    const { writer, readers } = sharingAt(line, step);
    const values = here.map((word) => valueText(valueAt(word, step), roleOf(word)));
    const touched = here.includes(hot) ? hot : null;
    const state = [writer, [...readers].join(), here.join(), values.join(), touched, touched !== null ? steps.kinds[step] : ""].join("|");
    if (each.state === state) return;
    each.state = state;
    fillLine(each, line, here, values, writer, readers, touched, step);
    if (touched !== null && follow) each.box.scrollIntoView({ block: "nearest" });
  });
}

function fillLine(each, line, here, values, writer, readers, touched, step) {
  const fails = touched !== null && "xj".includes(steps.kinds[step]);
  each.box.className = "line" + threadStyle(writer) + (writer === null ? "" : " owned") +
    (touched === null ? "" : fails ? " hot fails" : " hot by" + (steps.threads[step] % HUES));
  const who = (thread) => {
    const dot = document.createElement("i");
    dot.className = "dot" + threadStyle(thread);
    dot.textContent = story.threads[thread];
    return dot;
  };
  const others = [...readers].filter((thread) => thread !== writer).sort((a, b) => a - b);
  const label = (text) => {
    const made = document.createElement("span");
    made.textContent = text;
    return made;
  };
  each.head.replaceChildren(label("line " + line), ...(writer === null ? [] : [who(writer)]),
    ...(others.length ? [label("read by"), ...others.map(who)] : []));
  each.rows.replaceChildren(...here.flatMap((word, index) => {
    const name = document.createElement("dt"), value = document.createElement("dd");
    name.textContent = story.words[word].name;
    value.textContent = values[index];
    if (word === touched) name.className = value.className = "touched";
    return [name, value];
  }));
}
