// Filters of a list as a form, which speaks the address's parameters.

import { field, h } from "./dom.js";

/** A text that is compared as a whole. */
export const text = (name, label) => field(label, h("input", { name, autocomplete: "off", maxlength: 200 }));

/** One of several; `options` by the value that the address has. */
export const choice = (name, label, options) =>
  field(label, h("select", { name }, Object.entries(options).map(([value, shown]) => h("option", { value }, shown))));

/** The form: `get` gives the parameters, `set` takes them. */
export function filters(onChange, ...controls) {
  // With the enter key a change comes first.
  const element = h("form", { class: "filters", onchange: onChange, onsubmit: (event) => event.preventDefault() }, controls);
  return {
    element,
    get: () => Object.fromEntries([...new FormData(element)].map(([key, value]) => [key, value.trim()])),
    set: (values) => {
      for (const control of element.elements) {
        if (!control.name) continue;
        const value = values[control.name] ?? "";
        if (["radio", "checkbox"].includes(control.type)) control.checked = control.value === value;
        else {
          control.value = value;
          if (control.selectedIndex === -1) control.value = "";
        }
      }
    },
  };
}
