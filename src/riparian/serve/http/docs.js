"use strict";

// Every route can be tried out. The browser sends the credentials that it was asked for, if any.

const MOST = 20000; // characters of an answer that are shown

document.documentElement.dataset.scheme =
  matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";

async function send(place) {
  const { method, path } = place.dataset;
  const body = place.querySelector("textarea")?.value;
  const shown = document.createElement("pre");
  place.querySelector("output").replaceChildren(shown);
  shown.textContent = "…";
  const headers = body === undefined ? {} : { "Content-Type": "application/json" };
  try {
    const answer = await fetch(path, { method, headers, body });
    const kind = answer.headers.get("content-type") ?? "";
    let text = `${answer.headers.get("content-length") ?? "some"} bytes of ${kind}`;
    if (kind.includes("json")) text = JSON.stringify(await answer.json(), null, 2);
    else if (kind.startsWith("text/")) text = await answer.text();
    shown.textContent = `${answer.status}\n` + text.slice(0, MOST);
    shown.classList.toggle("refused", !answer.ok);
  } catch (error) {
    shown.textContent = `The service does not answer: ${error.message}`;
    shown.classList.add("refused");
  }
}

for (const place of document.querySelectorAll(".try")) {
  place.querySelector("button").addEventListener("click", () => send(place));
}
