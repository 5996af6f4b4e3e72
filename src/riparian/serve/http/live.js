
// The live page: numbers come by server-sent events and are put into the charts, once per second.

const ROW = 34; // pixels that a bar with a name is high
const formats = {
  share: (v) => (100 * v).toFixed(1) + " %",
  decimal: (v) => v.toFixed(3),
  number: (v) => // of any size, with four digits
    v === 0 || (Math.abs(v) >= 1e-3 && Math.abs(v) < 1e9)
      ? v.toLocaleString("en", { maximumSignificantDigits: 4 }) : v.toExponential(3),
  count: (v) => Math.round(v).toLocaleString("en"),
  seconds: (v) => (1000 * v).toFixed(v < 0.01 ? 2 : 0) + " ms",
  bytes: (v) => (v < 1e6 ? (v / 1e3).toFixed(0) + " kB" : (v / 1e6).toFixed(1) + " MB"),
};
const formatOf = {
  accuracy: "share", recent: "share", always: "share", rare: "share", p50: "seconds",
  p99: "seconds", memory: "bytes", auc: "decimal", average_precision: "decimal",
  recent_r2: "decimal", recent_rmse: "number", rmse: "number", recent_mae: "number",
  median_absolute_error: "number", bias: "number",
};
const STALE = 3; // seconds without a number until the page says so
const state = document.getElementById("state");
const title = document.title;
let last = null; // when the last numbers came

function say(kind, words) {
  state.dataset.state = kind;
  if (state.textContent !== words) state.textContent = words; // or it is read out every second
  document.title = kind === "live" ? title : (kind === "waiting" ? "… " : "⚠ ") + title;
  root.classList.toggle("stale", kind === "gone");
}

function write(figures, bad) {
  for (const [name, value] of Object.entries(figures)) {
    const place = document.getElementById("now-" + name);
    if (place === null) continue;
    place.textContent = value === null ? "–" : formats[formatOf[name] ?? "count"](value);
    place.parentElement.classList.toggle("bad", bad.includes(name));
  }
  if (figures.trouble === null) say("live", "Live.");
  else say("trouble", figures.trouble);
}

function look() {
  const old = last === null ? 0 : (Date.now() - last) / 1000;
  if (old <= STALE) return;
  const since = new Date(last).toLocaleTimeString();
  say("gone", `The service does not answer. Everything below is from ${since}.`);
}

// Whether a chart would show nothing: axes around no value are misleading.
function empty(news, figure) {
  return news.data.every((data, i) => {
    const { type, orientation } = figure.data[i];
    const values = Array.from((orientation === "h" ? data.x : data.y) ?? []);
    return values.every((value) => value === null || (type === "bar" && value === 0));
  });
}

function put(numbers) {
  for (const { place, figure } of charts) {
    const news = numbers[place.id.replace("chart-", "")];
    if (news === undefined) continue;
    place.classList.toggle("empty", empty(news, figure));
    news.data.forEach((data, i) => Object.assign(figure.data[i], data));
    for (const axis of ["xaxis", "yaxis"]) Object.assign(figure.layout[axis], news[axis]);
    if (news.rows !== undefined) {
      figure.layout.height = 90 + ROW * Math.max(2, news.rows);
      place.style.height = figure.layout.height + "px";
    }
  }
  draw();
}

const events = new EventSource("/v1/events");
events.onmessage = (event) => {
  const { figures, charts: numbers, bad } = JSON.parse(event.data);
  last = Date.now();
  write(figures, bad);
  put(numbers);
};
events.onerror = () => {
  if (last === null) say("gone", "The service does not answer; trying again.");
};
setInterval(look, 1000);
