"use strict";
const errors = [];
addEventListener("error", event => errors.push(event.message));

const places = [...document.querySelectorAll(".chart")];
const specs = places.map(place => JSON.parse(place.firstElementChild.textContent));
const GAP = 25.6, AXIS = 70;
// Charts in closed sections have no width of their own yet, so it is worked out from the page's.
function size(place) {
  const page = Math.max(document.querySelector("main").clientWidth, 280);
  const inPairs = matchMedia("(min-width:1024px)").matches;
  const isWide = place.parentNode.classList.contains("is-wide");
  return inPairs ? {width: isWide ? page : (page - GAP) / 2, height: +place.dataset.height} : {width: page};
}
function sized(spec, space) {
  const params = (spec.params || []).map(each => each.name === "room" ? {...each, value: space.width - AXIS} : each);
  return {...spec, ...space, params};
}
async function drawAll() {
  for (const [i, place] of places.entries()) {
    try { await vegaEmbed(place, sized(specs[i], size(place)), {renderer: "svg", actions: false}); }
    catch (error) { errors.push(String(error)); place.textContent = String(error); }
  }
  document.body.dataset.drawn = places.filter(place => place.querySelector("svg")).length;
  document.body.dataset.errors = errors.join("\n");
}
const ready = drawAll();
let later, drawnFor = innerWidth;
addEventListener("resize", () => {
  if (innerWidth === drawnFor) return;
  drawnFor = innerWidth; clearTimeout(later); later = setTimeout(drawAll, 200);
});
// Everything is printed; what was closed is closed again afterwards.
const folded = [...document.querySelectorAll("details")];
let closed = [];
addEventListener("beforeprint", () => { closed = folded.filter(part => !part.open); closed.forEach(part => { part.open = true; }); });
addEventListener("afterprint", () => { closed.forEach(part => { part.open = false; }); });

// The button opens every section, and closes them all when they are open.
const all = document.getElementById("all"), opening = all.textContent;
const areOpen = () => folded.every(part => part.open);
all.addEventListener("click", () => { const open = !areOpen(); folded.forEach(part => { part.open = open; }); });
for (const part of folded) part.addEventListener("toggle", () => { all.textContent = areOpen() ? all.dataset.close : opening; });

// A link into a closed section opens it.
function reveal() {
  let at = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  const target = at;
  for (; at; at = at.parentElement) if (at.tagName === "DETAILS") at.open = true;
  if (target) target.scrollIntoView();
}
addEventListener("hashchange", reveal);
ready.then(reveal);

// A table that is wider than the screen says so, and fades where it goes on.
function mark(box) {
  const rest = box.scrollWidth - box.clientWidth;
  box.parentNode.classList.toggle("is-wide", rest > 1);
  box.parentNode.classList.toggle("at-end", box.scrollLeft >= rest - 1);
}
const boxes = [...document.querySelectorAll(".scroll")];
const sizes = new ResizeObserver(entries => entries.forEach(entry => mark(entry.target)));
for (const box of boxes) { sizes.observe(box); mark(box); box.addEventListener("scroll", () => mark(box)); }

const units = { B: 1, kB: 1e3, MB: 1e6, GB: 1e9 };
const amount = text => {
  const found = parseFloat(text.replace("−", "-").replace(",", "")), unit = text.split(" ").pop();
  return isNaN(found) ? null : found * (units[unit] ?? 1);
};
function sort(head) {
  const rows = [...head.closest("table").tBodies[0].rows], column = head.cellIndex;
  const down = head.getAttribute("aria-sort") === "ascending";
  const cells = rows.map(row => row.cells[column].textContent.trim());
  const numeric = cells.every(text => text === "–" || text === "" || amount(text) !== null);
  const value = row => { const text = row.cells[column].textContent.trim(); return numeric ? amount(text) ?? -Infinity : text; };
  rows.sort((a, b) => (value(a) > value(b) ? 1 : value(a) < value(b) ? -1 : 0) * (down ? -1 : 1));
  for (const other of head.parentNode.cells) other.removeAttribute("aria-sort");
  head.setAttribute("aria-sort", down ? "descending" : "ascending");
  head.closest("table").tBodies[0].append(...rows);
}
for (const head of document.querySelectorAll("table.sortable th")) {
  head.addEventListener("click", () => sort(head));
  head.addEventListener("keydown", event => { if (event.key === "Enter" || event.key === " ") { event.preventDefault(); sort(head); } });
}
