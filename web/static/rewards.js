// How figures of runs of other environments are written.

import { count, h } from "./dom.js";
import { DASH, number } from "./numbers.js";

/** A name that may break behind its underscores and slashes. */
export const breakable = (name) => name.split(/(?<=[_/])/).flatMap((part, index) => (index ? [h("wbr"), part] : [part]));

/** A number with as many digits as it needs, and no more than four behind the first. */
export const figure = (value) => String(Number(value.toPrecision(5))).replace("-", "−");

const three = (value) => value.toFixed(3).replace("-", "−");

/** A mean with its standard error; a dash where nothing was measured. */
export function meanOf({ mean, standard_error: error }) {
  if (mean === null) return DASH;
  return error === null ? three(mean) : `${three(mean)} ± ${three(error)}`;
}

/** The same as a cell, where there is little room. */
export function meanCell({ mean, standard_error: error }) {
  return number(mean === null ? null : [h("span", {}, three(mean)), error !== null && h("small", {}, `± ${three(error)}`)]);
}

/** "4 examples × 3 rollouts", or how many there are of each where they differ. */
export function size({ examples, rollouts, void: voids, fewest, most }) {
  const many = (number, what) => `${count(number)} ${what}${number === 1 ? "" : "s"}`;
  // An example of which nothing counts is in no figure: the product would not hold.
  if (fewest === most && examples * most === rollouts + voids) return `${many(examples, "example")} × ${many(most, "rollout")}`;
  return `${many(examples, "example")}, ${many(rollouts, "rollout")}${voids ? "" : ` (${count(fewest)} to ${count(most)} of each)`}`;
}
