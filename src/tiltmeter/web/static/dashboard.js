"use strict";
// Every page works without this file. It spares the reader reloads: filters answer as one types, tables are sorted and
// paged in place, charts are fetched when they are seen, and a running audit is watched.

const get = async (url, options = {}) => {
  const answer = await fetch(url, { ...options, headers: { "X-Requested-With": "fetch", ...(options.headers || {}) } });
  return answer;
};

// --- results in place -------------------------------------------------------------------------------------------------
let asked = 0;

async function replaceResults(url, options = {}) {
  const results = document.getElementById("results");
  if (!results) { location.assign(url); return; }
  const turn = ++asked;
  results.setAttribute("aria-busy", "true");
  try {
    const answer = await get(url, options);
    const made = new DOMParser().parseFromString(await answer.text(), "text/html");
    if (turn !== asked) return; // a later question is on its way
    const fresh = made.getElementById("results");
    if (fresh) {
      results.replaceChildren(...fresh.childNodes);
    } else {
      const line = made.querySelector(".problem");
      const told = document.createElement("p");
      told.className = "problem";
      told.setAttribute("role", "alert");
      told.textContent = line ? line.textContent : "The dashboard did not answer as expected: reload the page.";
      results.replaceChildren(told);
    }
    if (!options.method) history.replaceState(null, "", url);
    if (options.method && results.getBoundingClientRect().top < 0) results.scrollIntoView();
  } catch {
    if (turn === asked) results.textContent = "The dashboard does not answer: is it still running?";
  } finally {
    if (turn === asked) results.removeAttribute("aria-busy");
  }
}

function submitLive(form) {
  const fields = new URLSearchParams(new FormData(form));
  if (form.method === "post") {
    const headers = { "Content-Type": "application/x-www-form-urlencoded" };
    return replaceResults(form.action, { method: "POST", body: fields.toString(), headers });
  }
  for (const [name, value] of [...fields]) if (value === "") fields.delete(name);
  const query = fields.toString();
  return replaceResults(form.getAttribute("action") + (query ? "?" + query : ""));
}

for (const form of document.querySelectorAll("form[data-live]")) {
  let waiting;
  form.addEventListener("submit", (event) => { event.preventDefault(); clearTimeout(waiting); submitLive(form); });
  if (form.method === "post") continue;
  form.addEventListener("input", () => { clearTimeout(waiting); waiting = setTimeout(() => submitLive(form), 250); });
}

document.addEventListener("click", (event) => {
  const link = event.target.closest("a[data-part]");
  if (!link || event.ctrlKey || event.metaKey || event.shiftKey || !document.getElementById("results")?.contains(link)) return;
  event.preventDefault();
  replaceResults(link.getAttribute("href"));
});

// --- charts -----------------------------------------------------------------------------------------------------------
function figureOf(each) {
  const figure = document.createElement("figure");
  figure.className = "turns";
  const drawing = new DOMParser().parseFromString(each.svg, "image/svg+xml").documentElement;
  const width = Number(drawing.getAttribute("width"));
  if (width > 640) figure.classList.add("wide");
  figure.style.setProperty("--width", width + "px");
  const scroll = document.createElement("div");
  scroll.className = "scroll";
  scroll.tabIndex = 0;
  scroll.setAttribute("role", "group");
  scroll.setAttribute("aria-label", "Chart: " + each.title);
  scroll.append(document.importNode(drawing, true));
  const caption = document.createElement("figcaption");
  caption.textContent = each.alt;
  figure.append(scroll, caption);
  return figure;
}

async function draw(place) {
  try {
    const answer = await get(place.dataset.chart);
    const figures = answer.ok ? await answer.json() : [];
    place.replaceChildren(...figures.map(figureOf));
    place.classList.toggle("several", figures.length > 1 || Boolean(place.querySelector(".wide")));
  } catch {
    place.replaceChildren();
  }
}

const seen = new IntersectionObserver((entries) => {
  for (const entry of entries) {
    if (entry.isIntersecting) { seen.unobserve(entry.target); draw(entry.target); }
  }
}, { rootMargin: "300px" });
for (const place of document.querySelectorAll("[data-chart]")) seen.observe(place);

// --- lists and files --------------------------------------------------------------------------------------------------
for (const field of document.querySelectorAll("select[data-fills]")) {
  field.addEventListener("change", async () => {
    if (!field.value) return;
    const answer = await get("/api/lexicons/" + encodeURIComponent(field.value));
    if (answer.ok) document.getElementById(field.dataset.fills).value = (await answer.json()).words.join(", ");
  });
}

for (const field of document.querySelectorAll("input[type=file][data-fills]")) {
  field.addEventListener("change", async () => {
    const [file] = field.files;
    if (!file) return;
    const large = file.size > 512 * 1024;
    field.setCustomValidity(large ? "The file is too large: the limit is 512 KB." : "");
    if (large) field.reportValidity();
    else document.getElementById(field.dataset.fills).value = await file.text();
  });
}

// --- a running audit --------------------------------------------------------------------------------------------------
const job = document.getElementById("job");
async function watch() {
  let told;
  try {
    const answer = await get("/api/jobs/" + job.dataset.job);
    told = await answer.json();
    if (!answer.ok) { location.reload(); return; }
  } catch {
    setTimeout(watch, 3000);
    return;
  }
  if (told.state !== "running") { location.reload(); return; }
  const part = (step) => (step.total ? step.done.toLocaleString() + " of " + step.total.toLocaleString() : "");
  const words = (step) => [step.phase, step.probe, step.message].filter(Boolean).join(": ");
  job.querySelector("[data-now]").textContent = [told.now.model, words(told.now), part(told.now)].filter(Boolean).join(", ");
  job.querySelector("[data-seconds]").textContent = Math.round(told.seconds) + " s";
  job.querySelector("[data-models]").textContent = told.models_done + " of " + told.models.length + " models done";
  const bar = job.querySelector("progress");
  if (told.now.total) { bar.max = told.now.total; bar.value = told.now.done; } else { bar.removeAttribute("value"); }
  job.querySelector("[data-log]").replaceChildren(...told.log.map((row) => {
    const line = document.createElement("tr");
    line.className = row.phase.replaceAll(" ", "-");
    for (const text of [row.seconds.toFixed(1) + " s", row.model || "-", words(row), part(row)]) line.insertCell().textContent = text;
    return line;
  }));
  setTimeout(watch, 700);
}
if (job && job.dataset.state === "running") watch();
