// The table in the form in which such results are published: Markdown to copy.

import { request } from "./api.js";
import { address, h, say } from "./dom.js";

/** A folded section with the table of a family, or of all checkpoints. */
export function publishedTable(family) {
  const text = h("pre", { tabindex: 0, role: "region", "aria-label": "Markdown table" });
  const told = h("span", { role: "status", class: "hint" });
  const copy = h("button", { type: "button", onclick: () => copied(text.textContent).then((done) => say(told, done ? "Copied." : "Select the text to copy it.")) }, "Copy");
  let asked = false;
  return h(
    "details",
    {
      class: "published",
      ontoggle: async () => {
        if (asked) return;
        asked = true;
        try {
          const { markdown } = await request(address("/published", { family }));
          say(text, markdown || "No game against random or minimax counts yet.");
          copy.hidden = !markdown;
        } catch (error) {
          asked = false;
          say(told, error.message);
        }
      },
    },
    h("summary", {}, "As a Markdown table, in the form in which such results are published"),
    h("div", { class: "card" }, text),
    h("div", { class: "row" }, told, copy),
  );
}

/** Whether the clipboard took it: a page that did not come over HTTPS has none. */
async function copied(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return false;
  }
}
