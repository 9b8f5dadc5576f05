// How evaluations' figures are written.

import { count, h, say } from "./dom.js";

/** The digits that an interval deserves, in per cent. */
export const percent = (share) => `${(100 * share).toFixed(share === 0 || share === 1 ? 0 : 1)} %`;

/** A rate per second, with the digits that it deserves. */
export const perSecond = (value) => (value >= 10 ? count(Math.round(value)) : value.toFixed(1));

/** A time that is left or has passed, roughly. */
export function duration(value) {
  if (value < 90) return `${Math.round(value)} s`;
  const minutes = Math.round(value / 60);
  if (minutes < 90) return `${minutes} min`;
  return minutes < 48 * 60 ? `${Math.floor(minutes / 60)} h ${minutes % 60} min` : `${Math.round(minutes / 1440)} days`;
}

/** The quiet bar of a share with its interval. */
export function intervalBar(share, interval) {
  const { low, high } = interval ?? { low: share, high: share };
  return h(
    "span",
    { class: "bar", "aria-hidden": "true" },
    h("b", { style: `left:${100 * low}%;width:${Math.max(1, 100 * (high - low))}%` }),
    h("i", { style: `left:${100 * share}%` }),
  );
}

/** How much of a plan is done, as a bar; `paint(done, planned)`. */
export function progressBar(label) {
  const filled = h("b", {});
  const element = h("div", { class: "progress", role: "progressbar", "aria-label": label, "aria-valuemin": 0, "aria-valuemax": 100 }, filled);
  function paint(done, planned) {
    const share = planned ? done / planned : 0;
    element.setAttribute("aria-valuenow", Math.floor(100 * share));
    element.setAttribute("aria-valuetext", `${count(done)} of ${count(planned)} games`);
    filled.style.width = `${100 * share}%`;
  }
  return { element, paint };
}

/** An opponent's spec, which may break after its marks. */
export const spec = (text) => text.split(/(?<=[:,=])/).flatMap((part, place) => (place ? [h("wbr"), part] : [part]));

/** Begin a sentence; a name stands as it is written. */
export const sentence = (text) => text[0].toUpperCase() + text.slice(1);

/** A place for text or elements that is only touched where its content changes. */
export function spot(element) {
  let was = null;
  return {
    element,
    /** `key` says whether something has changed; `make` gives the new children. */
    set(key, make) {
      if (key === was) return;
      was = key;
      if (make) element.replaceChildren(...[make()].flat(Infinity).filter((each) => each !== null && each !== false));
      else say(element, key);
    },
  };
}
