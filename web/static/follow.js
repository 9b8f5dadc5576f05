// Follow something on the server: ask again and again, only while somebody looks.

import { ApiError } from "./api.js";

const LOST_MS = 2000;

/**
 * Hand what `load` gives to `paint`, which returns after how many milliseconds to ask again, or
 * null to stop. Nothing is asked while the page is hidden. `lost` is told each time whether the
 * server could not be reached; `failed` is told what it refused, which is the end.
 * Returns a function that asks at once, also after the end; it resolves when that is painted.
 */
export function follow({ load, paint, lost, failed }) {
  let timer = null;
  let waiting = false; // Whether there is something to ask for later.
  let asking = Promise.resolve();

  async function ask() {
    clearTimeout(timer);
    waiting = false;
    const wait = await look();
    if (wait === null) return;
    waiting = true;
    if (!document.hidden) timer = setTimeout(again, wait);
  }

  async function look() {
    let found;
    try {
      found = await load();
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      const unreachable = error.status === 0 || error.status >= 502;
      lost(unreachable);
      if (unreachable) return LOST_MS;
      failed(error);
      return null;
    }
    lost(false);
    return paint(found);
  }

  /** One after the other: an answer that is under way may be older than what was just done. */
  function again() {
    asking = asking.then(ask);
    return asking;
  }

  document.addEventListener("visibilitychange", () => {
    clearTimeout(timer);
    if (!document.hidden && waiting) again();
  });
  return again;
}
