"use strict";
// Keeps an open page up to date: small numbers as they come, changed sections when the server says that they changed.
const texts = JSON.parse(document.getElementById("texts").textContent);
const say = (key, values = {}) => texts[key].replace(/\{(\w+)\}/g, (_, name) => values[name]);
const connection = document.getElementById("connection");

function connected(isLive) {
  connection.textContent = say(isLive ? "connected" : "disconnected");
  connection.classList.toggle("is-live", isLive);
}

const duration = seconds => seconds < 60 ? `${seconds.toFixed(1)} s`
  : seconds < 3600 ? `${Math.floor(seconds / 60)} min ${Math.round(seconds % 60)} s`
  : `${Math.floor(seconds / 3600)} h ${Math.floor(seconds % 3600 / 60)} min`;

function who(box, found) {
  if (!found || (found.n && !found.clients)) { if (found) box.firstElementChild.textContent = found.n; return; }
  const shown = found.clients.slice(0, 40), rest = found.n - shown.length;
  const count = document.createElement(found.n ? "b" : "span"), list = document.createElement("span");
  count.textContent = found.n || say("nobody"); count.className = found.n ? "" : "soft";
  list.className = "soft numbers";
  list.textContent = shown.join(", ") + (rest > 0 ? ` ${say("more", {n: rest})}` : "");
  box.replaceChildren(count, " ", ...(found.n ? [list] : []));
}

// How the runs that go on stand: progress bars, time left, and who is training.
function now(runs) {
  for (const [id, at] of Object.entries(runs)) {
    if (at.steps === undefined) continue;
    const name = CSS.escape(id), share = Math.min(1, (at.step + at.share) / at.steps);
    for (const bar of document.querySelectorAll(`[data-share="${name}"]`)) bar.value = share;
    for (const left of document.querySelectorAll(`[data-left="${name}"]`))
      left.textContent = at.left === null ? "" : say("left", {time: duration(at.left)});
    const section = document.querySelector(`[data-now="${name}"]`), step = section?.querySelector("[data-step]");
    if (!step) continue;
    step.textContent = say("step", {step: Math.min(at.step + 1, at.steps), steps: at.steps});
    for (const box of section.querySelectorAll("[data-who]")) who(box, at[box.dataset.who]);
    const training = section.querySelector("[data-training]");
    training.textContent = training.dataset[at.is_late ? "late" : "training"];
  }
  if (Object.keys(runs).some(id => document.querySelector(`[data-now="${CSS.escape(id)}"]`) &&
      !document.querySelector(`[data-now="${CSS.escape(id)}"] [data-step]`) && runs[id].steps)) refresh();
}

const concerns = (element, changed) => {
  const runs = element.dataset.runs.split(" ");
  return runs.includes("*") || changed.some(id => runs.includes(id));
};

let isBusy = false, again = null;
async function refresh(changed = null) {
  if (changed && ![...document.querySelectorAll("[data-runs]")].some(each => concerns(each, changed))) return;
  if (isBusy) { again = [changed]; return; }
  isBusy = true;
  try {
    const answer = await fetch(location.href, {headers: {"X-Part": "main", Accept: "text/html"}});
    if (answer.ok) replace(new DOMParser().parseFromString(await answer.text(), "text/html"));
    document.dispatchEvent(new CustomEvent("refreshed", {detail: changed}));
    document.body.dataset.refreshed = +(document.body.dataset.refreshed || 0) + 1;
  } catch { connected(false); } finally {
    isBusy = false;
    if (again) { const [next] = again; again = null; refresh(next); }
  }
}

// Changed sections are replaced; what the user opened, ticked, scrolled or focused stays as it was, and maps stay drawn.
function replace(fresh) {
  for (const section of document.querySelectorAll("[data-live]")) {
    const newer = fresh.getElementById(section.id);
    if (!newer || newer.innerHTML === section.source) continue;
    const source = newer.innerHTML, focused = document.activeElement;
    for (const each of newer.querySelectorAll("details[id]")) each.open = document.getElementById(each.id)?.open ?? each.open;
    for (const each of newer.querySelectorAll("input[id]")) each.checked = document.getElementById(each.id)?.checked ?? false;
    for (const each of newer.querySelectorAll("[data-keep]")) {
      const old = [...section.querySelectorAll("[data-keep]")].find(other => other.dataset.keep === each.dataset.keep);
      if (old) each.replaceWith(old);
    }
    const scrolls = [...section.querySelectorAll(".scroll, .events, pre")].map(each => [each.scrollLeft, each.scrollTop]);
    section.replaceChildren(...newer.childNodes);
    section.dataset.runs = newer.dataset.runs;
    section.source = source;
    [...section.querySelectorAll(".scroll, .events, pre")].forEach((each, i) => scrolls[i] && ([each.scrollLeft, each.scrollTop] = scrolls[i]));
    if (focused && focused !== document.body && !document.contains(focused) && focused.id) document.getElementById(focused.id)?.focus();
    else if (focused && document.contains(focused)) focused.focus({preventScroll: true});
  }
}
for (const section of document.querySelectorAll("[data-live]")) section.source = section.innerHTML;

// A hidden page listens to nothing: browsers allow few connections to a host, and nobody looks.
let stream = null;
function listen() {
  stream?.close();
  stream = new EventSource("/changes");
  stream.onopen = () => connected(true);
  stream.onerror = () => connected(false);
  stream.addEventListener("now", event => now(JSON.parse(event.data)));
  stream.addEventListener("changed", event => refresh(JSON.parse(event.data)));
}
document.addEventListener("visibilitychange", () => {
  if (document.hidden) { stream?.close(); stream = null; } else if (!stream) { listen(); refresh(); }
});
addEventListener("pagehide", () => stream?.close());
addEventListener("pageshow", event => { if (event.persisted) { listen(); refresh(); } });
if (!document.hidden) listen();
