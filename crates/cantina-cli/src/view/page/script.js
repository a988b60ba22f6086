"use strict";
// Pointing at a pool, in a plot or in a table, brings it forward in all plots of its chart.
for (const chart of document.querySelectorAll(".chart")) {
  const all = [...chart.querySelectorAll("[data-pool]")];
  const light = (pool) => {
    chart.classList.toggle("focused", pool !== null);
    for (const each of all) each.classList.toggle("lit", each.dataset.pool === pool);
  };
  for (const each of all) {
    each.addEventListener("pointerenter", () => light(each.dataset.pool));
    each.addEventListener("pointerleave", () => light(null));
  }
}
// The marks' titles become a tooltip that comes at once.
const tip = document.createElement("div");
tip.id = "tip";
tip.hidden = true;
document.body.append(tip);
for (const dot of document.querySelectorAll(".dot")) {
  const title = dot.querySelector("title");
  const [head, ...rest] = title.textContent.split("; ");
  title.remove();
  dot.addEventListener("pointerenter", () => {
    const bold = document.createElement("b");
    bold.textContent = head;
    tip.replaceChildren(bold, rest.join(", "));
    tip.hidden = false;
  });
  dot.addEventListener("pointermove", (event) => {
    const box = tip.getBoundingClientRect();
    const left = Math.min(event.clientX + 14, window.innerWidth - box.width - 8);
    const below = event.clientY + 18;
    const fits = window.innerHeight >= below + box.height;
    tip.style.left = Math.max(8, left) + "px";
    tip.style.top = (fits ? below : event.clientY - box.height - 12) + "px";
  });
  dot.addEventListener("pointerleave", () => { tip.hidden = true; });
}
// The record can be saved as a file again.
const save = document.createElement("button");
save.type = "button";
save.textContent = "Save record.json";
save.addEventListener("click", () => {
  const record = document.getElementById("record").textContent.trim() + "\n";
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([record], { type: "application/json" }));
  link.download = "record.json";
  link.click();
  URL.revokeObjectURL(link.href);
});
document.getElementById("machine").append(save);
