// What every page ends with: the way to the JSON routes, and the operator's door.

import { API, request } from "./api.js";
import { h, link } from "./dom.js";

/** The foot of a page. */
export function footer() {
  const door = h("span", { class: "door" });
  request("/players").then(
    (players) => door.replaceChildren(...operator(players)),
    () => door.replaceChildren(),
  );
  return h("div", { class: "foot" }, link(`${API}/docs`, "API"), " ", door);
}

function operator({ operator: signedIn, password_set: passwordSet }) {
  if (!passwordSet) return [];
  if (signedIn) {
    const leave = async () => {
      await request("/operator/sign-out", { method: "POST" });
      location.reload();
    };
    return ["Signed in as the operator. ", h("button", { type: "button", class: "plain", onclick: leave }, "Sign out")];
  }
  const password = h("input", { type: "password", name: "password", autocomplete: "current-password", required: true });
  const problem = h("span", { class: "problem", role: "alert" });
  const enter = async (event) => {
    event.preventDefault();
    try {
      await request("/operator/sign-in", { body: { password: password.value } });
      location.reload();
    } catch (error) {
      problem.textContent = error.message;
    }
  };
  return [
    h(
      "details",
      {},
      h("summary", {}, "Operator"),
      h("form", { onsubmit: enter }, h("label", { class: "field" }, h("span", {}, "Password"), password), h("button", {}, "Sign in"), problem),
    ),
  ];
}
