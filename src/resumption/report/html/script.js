"use strict";
// Filters, and the lanes of a history, drawn when a reader opens it. Everything else reads without this script.

const one = (selector, root = document) => root.querySelector(selector);
const all = (selector, root = document) => [...root.querySelectorAll(selector)];

function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

const isolated = (text) => element("bdi", {}, text);

function eventOf([, , , branch, kind, text, detail, turn]) {
  const told = element("p", { class: `event ${kind}` }, isolated(text));
  if (detail) told.append(" ", element("small", {}, isolated(detail)));
  if (turn) told.append(" ", element("small", { class: "branch" }, `branch ${branch}`));
  return told;
}

function rowOf(row, index, history, spans, story) {
  const [first, last, process] = row;
  const told = story.some((number) => first <= number && number <= last);
  const line = element("tr", told ? { class: "told" } : {});
  const numbers = first === last ? `${first}` : `${first}–${last}`;
  line.append(element("th", { scope: "row", class: "number" }, numbers));
  for (const lane of history.processes) {
    const [start, end] = spans.get(lane);
    const cell = element("td", { class: `${start <= index && index <= end ? "alive " : ""}${lane ? "" : "harness"}` });
    if (lane === process) cell.append(eventOf(row));
    line.append(cell);
  }
  return line;
}

function lanesOf(history, story) {
  const spans = new Map();
  history.rows.forEach(([, , process], index) => spans.set(process, [spans.get(process)?.[0] ?? index, index]));
  const heads = history.processes.map((lane) => element("th", { scope: "col" }, lane ? `process ${lane}` : "harness"));
  const table = element(
    "table",
    { class: "lanes" },
    element("caption", {}, isolated(history.name), " ", element("small", {}, isolated(history.program))),
    element("thead", {}, element("tr", {}, element("th", { scope: "col", class: "number" }, "#"), ...heads)),
    element("tbody", {}, ...history.rows.map((row, index) => rowOf(row, index, history, spans, story))),
  );
  return element("div", { class: "scroll", role: "region", tabindex: "0", "aria-label": `History ${history.name}` }, table);
}

const historyAt = (index) => JSON.parse(one(`#history-${index}`).textContent);

function draw(details) {
  if (details.dataset.drawn) return;
  details.dataset.drawn = "yes";
  const indices = details.dataset.histories.split(" ");
  const story = details.dataset.story.split(" ").filter(Boolean).map(Number);
  const place = element("div", { class: "drawn" });
  const show = (at) => place.replaceChildren(lanesOf(historyAt(indices[at]), at === 0 ? story : []));
  if (indices.length > 1) {
    const options = indices.map((index, at) => element("option", { value: at }, `${at + 1} of ${indices.length}`));
    const choice = element("select", {}, ...options);
    choice.addEventListener("change", () => show(Number(choice.value)));
    details.append(element("label", { class: "choice" }, "History ", choice));
  }
  details.append(place);
  show(0);
}

function openTarget() {
  const target = location.hash ? document.getElementById(decodeURIComponent(location.hash.slice(1))) : null;
  const details = target?.closest("details.square");
  if (!details) return;
  details.open = true;
  details.scrollIntoView({ block: "start" });
  one("summary", details).focus({ preventScroll: true });
}

function filter(form) {
  const wanted = Object.fromEntries(new FormData(form));
  const fits = (item) =>
    ["property", "label"].every((key) => !wanted[key] || !(key in item.dataset) || item.dataset[key] === wanted[key]);
  for (const item of all("[data-plane]")) item.hidden = Boolean(wanted.plane) && item.dataset.plane !== wanted.plane;
  for (const item of all("details.square")) item.hidden = !fits(item);
  for (const item of all("table.matrix [data-property]")) {
    item.hidden = Boolean(wanted.property) && item.dataset.property !== wanted.property;
    item.classList.toggle("faded", !item.hidden && Boolean(wanted.label) && "label" in item.dataset && !fits(item));
  }
  for (const line of all("section.line")) line.hidden ||= !one("details.square:not([hidden])", line);
  const shown = all("section.line:not([hidden]) details.square:not([hidden])").length;
  one("output", form).textContent = `${shown} of ${all("details.square").length} shown`;
}

document.addEventListener(
  "toggle",
  ({ target }) => {
    if (!target.open) return;
    if (target.matches("details.history")) draw(target);
    const lead = target.matches("details.square") && one("details.history[data-lead]", target);
    if (lead && !lead.dataset.drawn) lead.open = true;
  },
  true,
);
window.addEventListener("hashchange", openTarget);
for (const link of all("a[href^='#']")) {
  link.addEventListener("click", () => link.getAttribute("href") === location.hash && openTarget());
}
const form = one("form.filters");
form.hidden = false;
form.addEventListener("change", () => filter(form));
form.addEventListener("submit", (event) => event.preventDefault());
filter(form);
openTarget();
