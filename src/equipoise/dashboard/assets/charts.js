"use strict";
// Draws the charts: specifications in the page, or fetched for a run; drawn again when their numbers change.
const AXIS = 70;
let bundle = null;
const vega = () => bundle ??= new Promise((done, failed) => {
  const script = document.createElement("script");
  script.src = `/assets/vega.js${document.querySelector('script[src*="live.js"]').src.replace(/.*(\?v=.*)/, "$1")}`;
  script.onload = done; script.onerror = failed;
  document.head.append(script);
});

async function draw(place, spec) {
  await vega();
  const width = Math.max(place.clientWidth, 240), space = {width, height: +place.dataset.height};
  const params = (spec.params || []).map(each => each.name === "room" ? {...each, value: width - AXIS} : each);
  const options = {renderer: "svg", actions: false, ast: true, defaultStyle: false, tooltip: {disableDefaultStyle: true, theme: "custom"}};
  place.chart?.finalize();
  place.replaceChildren();
  place.chart = await vegaEmbed(place, {...spec, ...space, params}, options);
  place.spec = spec; place.drawnFor = width;
}

function figure(chart) {
  const made = document.createElement("figure"), title = document.createElement("h3");
  const caption = document.createElement("figcaption"), place = document.createElement("div");
  made.dataset.key = chart.key; title.textContent = chart.title; caption.textContent = chart.caption;
  place.className = "chart"; place.dataset.height = chart.height;
  made.append(title, caption, place);
  return made;
}

async function drawInPage() {
  for (const place of document.querySelectorAll(".chart")) {
    const source = place.querySelector(":scope > script");
    if (source) await draw(place, JSON.parse(source.textContent));
  }
}

async function load(section, isRefresh) {
  const answer = await fetch(section.dataset.charts, {headers: {Accept: "application/json", ...(isRefresh ? {"X-Part": "charts"} : {})}});
  if (!answer.ok) return;
  const text = await answer.text();
  if (section.source === text) return;
  section.source = text;
  const box = section.querySelector(".figures"), {charts} = JSON.parse(text);
  section.hidden = !charts.length;
  const known = new Map([...box.children].map(each => [each.dataset.key, each]));
  const keys = charts.map(chart => chart.key);
  for (const [key, old] of known) if (!keys.includes(key)) old.remove();
  for (const chart of charts) {
    const made = known.get(chart.key) || box.appendChild(figure(chart)), place = made.querySelector(".chart");
    if (JSON.stringify(place.spec) !== JSON.stringify(chart.spec)) await draw(place, chart.spec);
    place.setAttribute("role", "img"); place.setAttribute("aria-label", `${chart.title}. ${chart.caption}`);
  }
  section.dataset.drawn = charts.length;
}

async function all(isRefresh) {
  await drawInPage();
  for (const section of document.querySelectorAll("[data-charts]")) await load(section, isRefresh);
}
all(false);
document.addEventListener("refreshed", () => all(true));
let later;
addEventListener("resize", () => {
  clearTimeout(later);
  later = setTimeout(() => { for (const place of document.querySelectorAll(".chart"))
    if (place.spec && place.drawnFor !== place.clientWidth) draw(place, place.spec); }, 200);
});
