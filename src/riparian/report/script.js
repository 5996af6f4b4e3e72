"use strict";

// The charts, in the colours of the scheme: the reader's own, until the button chooses another.

const PRINTED_WIDTH = 640; // pixels that fit on a page

const root = document.documentElement;
const button = document.getElementById("scheme");
const prefersDark = matchMedia("(prefers-color-scheme: dark)");
const charts = [...document.querySelectorAll(".chart")].map((place) => ({
  place,
  figure: JSON.parse(document.getElementById(place.id.replace("chart-", "data-")).textContent),
}));
let chosen = null;
let printing = false;

function colour(name) {
  return getComputedStyle(root).getPropertyValue("--" + name).trim();
}

// `set(trace, "line.color", "#000")`
function set(object, path, value) {
  const names = path.split(".");
  const last = names.pop();
  for (const name of names) object = object[name] ??= {};
  object[last] = value;
}

function mixed(low, high, share) {
  const part = (text, i) => parseInt(text.slice(1 + 2 * i, 3 + 2 * i), 16);
  const mix = (i) => Math.round(part(low, i) + share * (part(high, i) - part(low, i)));
  return `rgb(${mix(0)}, ${mix(1)}, ${mix(2)})`;
}

// A trace says in its meta which colour goes where; that of "heat" is a scale with given steps.
function colourTrace(trace) {
  for (const [path, wanted] of Object.entries(trace.meta ?? {})) {
    if (!Array.isArray(wanted)) {
      set(trace, path, colour(wanted));
      continue;
    }
    const [name, steps] = wanted;
    const [low, high] = [colour(name + "-low"), colour(name + "-high")];
    if (typeof steps === "number") {
      set(trace, path, mixed(low, high, steps)); // one colour of the scale
      continue;
    }
    const scale = steps.map((step, i) => [step, mixed(low, high, i / (steps.length - 1))]);
    set(trace, path, scale);
  }
}

function colourLayout(layout) {
  set(layout, "font.color", colour("ink"));
  for (const ground of ["paper_bgcolor", "plot_bgcolor"]) set(layout, ground, "rgba(0, 0, 0, 0)");
  for (const name of Object.keys(layout).filter((key) => /^[xy]axis/.test(key))) {
    set(layout, name + ".gridcolor", colour("rule"));
    set(layout, name + ".linecolor", colour("muted"));
    set(layout, name + ".spikecolor", colour("muted"));
  }
  set(layout, "hoverlabel.bgcolor", colour("paper"));
  set(layout, "hoverlabel.bordercolor", colour("muted"));
  set(layout, "hoverlabel.font.color", colour("ink"));
}

function draw() {
  for (const { place, figure } of charts) {
    figure.data.forEach(colourTrace);
    colourLayout(figure.layout);
    figure.layout.width = printing ? PRINTED_WIDTH : undefined;
    Plotly.react(place, figure.data, figure.layout, { displayModeBar: false, responsive: true });
  }
}

function scheme() {
  if (printing) return "light"; // as paper is
  return chosen ?? (prefersDark.matches ? "dark" : "light");
}

function show() {
  root.dataset.scheme = scheme();
  button.textContent = scheme() === "dark" ? "Light" : "Dark";
  draw();
}

function setPrinting(now) {
  printing = now;
  show();
}

button.hidden = false;
button.addEventListener("click", () => {
  chosen = scheme() === "dark" ? "light" : "dark";
  show();
});
prefersDark.addEventListener("change", show);
addEventListener("beforeprint", () => setPrinting(true));
addEventListener("afterprint", () => setPrinting(false));
show();
