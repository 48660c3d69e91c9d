"use strict";
// Stop, resume, start: sent with the header that only our own pages send.
const toast = document.getElementById("said");
function announce(text) {
  toast.textContent = text; toast.hidden = false;
  clearTimeout(toast.timer); toast.timer = setTimeout(() => { toast.hidden = true; }, 8000);
}
async function post(address, body = {}) {
  const answer = await fetch(address, {method: "POST", body: JSON.stringify(body), headers: {"Content-Type": "application/json", "X-Equipoise": "1"}});
  const text = await answer.text(), isJson = (answer.headers.get("content-type") || "").includes("json");
  const found = isJson ? JSON.parse(text) : {error: text.trim()};
  if (!answer.ok) throw new Error([found.error, found.next].filter(Boolean).join("\n"));
  return found;
}
document.addEventListener("click", async event => {
  const button = event.target.closest("[data-post]");
  if (!button || (button.dataset.sure && !confirm(say(`sure_${button.dataset.sure}`)))) return;
  button.disabled = true;
  try { await post(button.dataset.post); await refresh(); }
  catch (error) { announce(say("failed", {error: error.message})); button.disabled = false; }
});

const order = document.getElementById("order");
order?.addEventListener("click", async event => {
  const button = event.target.closest("[data-order]");
  if (!button) return;
  const wrong = document.getElementById("wrong"), checked = document.getElementById("checked");
  const settings = order.settings.value.split("\n").map(line => line.trim()).filter(Boolean);
  wrong.hidden = checked.hidden = true; button.disabled = true;
  try {
    const found = await post(button.dataset.order, {preset: order.preset.value, settings});
    if (found.config) { checked.hidden = false; checked.open = true; checked.querySelector("pre").textContent = found.config; }
    else await refresh();
  } catch (error) { wrong.textContent = error.message; wrong.hidden = false; }
  finally { button.disabled = false; }
});
// what was started is asked about while there is something to see
if (order) setInterval(() => { if (!document.hidden && document.querySelector("#jobs .status.running")) refresh(); }, 3000);
