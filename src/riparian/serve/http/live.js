
// The live page: numbers come by server-sent events and are put into the charts, once per second.

const ROW = 34; // pixels that a bar with a name is high
const formats = {
  share: (v) => (100 * v).toFixed(1) + " %",
  count: (v) => Math.round(v).toLocaleString("en"),
  seconds: (v) => (1000 * v).toFixed(v < 0.01 ? 2 : 0) + " ms",
  bytes: (v) => (v < 1e6 ? (v / 1e3).toFixed(0) + " kB" : (v / 1e6).toFixed(1) + " MB"),
};
const formatOf = {
  accuracy: "share", recent: "share", p50: "seconds", p99: "seconds", memory: "bytes",
};
const state = document.getElementById("state");

function write(figures) {
  for (const [name, value] of Object.entries(figures)) {
    const place = document.getElementById("now-" + name);
    if (place === null) continue;
    place.textContent = value === null ? "–" : formats[formatOf[name] ?? "count"](value);
  }
  state.textContent = figures.trouble ?? "Live.";
}

function put(numbers) {
  for (const { place, figure } of charts) {
    const news = numbers[place.id.replace("chart-", "")];
    if (news === undefined) continue;
    news.data.forEach((data, i) => Object.assign(figure.data[i], data));
    if (news.yaxis !== undefined) Object.assign(figure.layout.yaxis, news.yaxis);
    if (news.rows !== undefined) {
      figure.layout.height = 90 + ROW * Math.max(2, news.rows);
      place.style.height = figure.layout.height + "px";
    }
  }
  draw();
}

const events = new EventSource("/v1/events");
events.onmessage = (event) => {
  const { figures, charts: numbers } = JSON.parse(event.data);
  write(figures);
  put(numbers);
};
events.onerror = () => {
  state.textContent = "The service does not answer; trying again.";
};
