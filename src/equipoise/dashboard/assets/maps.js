"use strict";
// Client × checkpoint maps: one pixel per number on a canvas, which the browser enlarges.
const AMOUNTS = ["#482475", "#414487", "#355f8d", "#2a788e", "#21918c", "#22a884", "#44bf70", "#7ad151", "#bddf26", "#fde725"];
const SIGNED = ["#d55e00", "#e69f00", "#f3d9a4", "#e8e8e8", "#a9cfe8", "#56b4e9", "#0072b2"];
const parts = hex => [1, 3, 5].map(i => parseInt(hex.slice(i, i + 2), 16));
function colour(colours, share) {
  const place = Math.min(Math.max(share, 0), 1) * (colours.length - 1), i = Math.min(Math.floor(place), colours.length - 2);
  const [low, high] = [parts(colours[i]), parts(colours[i + 1])];
  return low.map((value, k) => Math.round(value + (high[k] - value) * (place - i)));
}
const shown = (map, value) => Number.isNaN(value) ? say("nothing") : map.is_share ? `${(100 * value).toFixed(1)} %` : Number(value.toPrecision(4)).toString();

class HeatMap {
  constructor(box) {
    this.box = box; this.canvas = box.querySelector("canvas"); this.first = 0; this.last = null; this.row = this.column = -1;
    box.querySelectorAll("[data-move]").forEach(each => each.addEventListener("click", () => this.move(+each.dataset.move)));
    box.querySelectorAll("[data-zoom]").forEach(each => each.addEventListener("click", () => this.zoom(each.dataset.zoom === "in")));
    this.canvas.addEventListener("pointermove", event => this.point(event));
    this.canvas.addEventListener("pointerdown", event => { this.from = this.at(event)[1]; });
    this.canvas.addEventListener("pointerup", event => this.drag(event));
    this.canvas.addEventListener("keydown", event => this.key(event));
    new IntersectionObserver(seen => { if (seen[0].isIntersecting && !this.map) this.load(false); }, {rootMargin: "300px"}).observe(box);
  }
  async load(isRefresh) {
    const query = new URLSearchParams({metric: this.box.dataset.metric, first: this.first, ...(this.last === null ? {} : {last: this.last})});
    const answer = await fetch(`${this.box.dataset.map}?${query}`, {headers: {Accept: "application/json", ...(isRefresh ? {"X-Part": "map"} : {})}});
    if (!answer.ok) return;
    const text = await answer.text();
    if (this.source === text) return;
    this.source = text; this.map = JSON.parse(text);
    const bytes = Uint8Array.from(atob(this.map.values), letter => letter.charCodeAt(0));
    this.values = new Float32Array(bytes.buffer);
    this.draw();
  }
  draw() {
    const {clients, steps, is_cosine} = this.map, colours = is_cosine ? SIGNED : AMOUNTS;
    const [low, high] = is_cosine ? [-1, 1] : [this.map.low, this.map.high];
    this.canvas.width = Math.max(1, steps.length); this.canvas.height = Math.max(1, clients.length);
    const context = this.canvas.getContext("2d"), image = context.createImageData(this.canvas.width, this.canvas.height);
    const table = Array.from({length: 256}, (_, i) => colour(colours, i / 255));
    const scale = high > low ? 255 / (high - low) : 0;
    for (let i = 0; i < this.values.length; i++) {
      const value = this.values[i];
      if (!Number.isFinite(value)) continue;
      image.data.set(table[Math.round((value - low) * scale)] ?? table[0], 4 * i); image.data[4 * i + 3] = 255;
    }
    context.putImageData(image, 0, 0);
    const legend = this.box.querySelector(".legend"), strip = legend.getContext("2d");
    legend.width = 64; legend.height = 1;
    for (let i = 0; i < 64; i++) { strip.fillStyle = `rgb(${colour(colours, i / 63).join()})`; strip.fillRect(i, 0, 1, 1); }
    this.describe(low, high);
  }
  describe(low, high) {
    const {clients, n_clients, steps, n_steps} = this.map, title = this.box.querySelector("h3").textContent;
    const ends = {low: low === null ? "–" : shown(this.map, low), high: high === null ? "–" : shown(this.map, high)};
    this.box.querySelector(".low").textContent = ends.low; this.box.querySelector(".high").textContent = ends.high;
    const range = {first: steps.length ? steps[0] + 1 : 0, last: steps.length ? steps.at(-1) + 1 : 0};
    this.canvas.setAttribute("aria-label", steps.length ? say("map", {title, clients: n_clients, ...range, ...ends}) : say("empty"));
    const notes = [`${range.first}–${range.last}`];
    if (steps.length < n_steps) notes.push(say("columns", {shown: steps.length, n: n_steps}));
    if (clients.length < n_clients) notes.push(say("rows", {shown: clients.length, n: n_clients}));
    this.box.querySelector(".range").textContent = notes.join(" · ");
    this.box.dataset.drawn = steps.length;
  }
  at(event) {
    const area = this.canvas.getBoundingClientRect();
    const place = (part, n) => Math.min(n - 1, Math.max(0, Math.floor(part * n)));
    return [place((event.clientY - area.top) / area.height, this.canvas.height), place((event.clientX - area.left) / area.width, this.canvas.width)];
  }
  point(event) { if (this.map) { [this.row, this.column] = this.at(event); this.tell(); } }
  tell() {
    const value = this.values[this.row * this.map.steps.length + this.column];
    if (value === undefined) return;
    const where = {client: this.map.clients[this.row], step: this.map.steps[this.column] + 1, value: shown(this.map, value)};
    this.box.querySelector(".cell").textContent = say("at", where);
  }
  drag(event) {
    const to = this.at(event)[1], from = this.from ?? to;
    if (Math.abs(to - from) > 1) this.show(this.map.steps[Math.min(from, to)], this.map.steps[Math.max(from, to)]);
  }
  key(event) {
    const moves = {ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1]};
    if (!this.map) return;
    if (event.key === "+" || event.key === "-") { this.zoom(event.key === "+"); return; }
    if (!(event.key in moves)) return;
    event.preventDefault();
    const [down, right] = moves[event.key], inside = (value, n) => Math.min(n - 1, Math.max(0, value));
    this.row = inside(this.row + down, this.canvas.height); this.column = inside(this.column + right, this.canvas.width);
    this.tell();
  }
  get ends() { const {steps} = this.map; return [this.first, this.last ?? steps.at(-1) ?? 0]; }
  zoom(isIn) {
    const [first, last] = this.ends, middle = this.column >= 0 && isIn ? this.map.steps[this.column] : (first + last) / 2;
    const half = Math.max(1, (last - first) * (isIn ? 0.25 : 1));
    this.show(Math.round(middle - half), Math.round(middle + half));
  }
  move(way) { const [first, last] = this.ends, by = Math.max(1, Math.round((last - first) / 2)) * way; this.show(first + by, last + by); }
  show(first, last) {
    const end = this.end ??= this.map.steps.at(-1), width = last - first;
    if (last >= end) { last = null; first = Math.max(0, Math.min(first, end - 1)); }
    if (first <= 0) { first = 0; last = last === null || width >= end ? null : width; }
    this.first = first; this.last = last; this.column = -1; this.load(false);
  }
}
const find = () => { for (const box of document.querySelectorAll("[data-map]")) box.heat ??= new HeatMap(box); };
find();
document.addEventListener("refreshed", () => {
  find();
  for (const box of document.querySelectorAll("[data-map]")) {
    const area = box.getBoundingClientRect(), isSeen = area.bottom > -300 && area.top < innerHeight + 300;
    if (box.heat.map && isSeen) box.heat.load(true); else if (!isSeen) box.heat.map = null;
  }
});
