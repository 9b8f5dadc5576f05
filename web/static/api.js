// Talk with /api/v1, and the secrets of the seats that this browser holds.

export const API = "/api/v1";
const TIMEOUT_MS = 20_000;

/** What the server refused, in its words; `status` 0 where it could not be reached. */
export class ApiError extends Error {
  constructor(status, message) {
    super(message);
    this.status = status;
  }
}

/** Fetch JSON. Throws ApiError. */
export async function request(path, { body, method } = {}) {
  const options = { method: method ?? (body === undefined ? "GET" : "POST") };
  if (body !== undefined) {
    options.headers = { "content-type": "application/json" };
    options.body = JSON.stringify(body);
  }
  let response, text;
  try {
    response = await fetch(API + path, { ...options, signal: AbortSignal.timeout(TIMEOUT_MS) });
    text = await response.text();
  } catch {
    throw new ApiError(0, "The server does not answer.");
  }
  let data = null;
  try {
    data = text ? JSON.parse(text) : null;
  } catch {
    throw new ApiError(response.ok ? 0 : response.status, "The server answered nonsense.");
  }
  if (!response.ok) throw new ApiError(response.status, sentence(data?.error?.message));
  return data;
}

/** The server's message as a sentence. */
function sentence(message) {
  if (!message) return "The server refused.";
  // A spec or a name stands as it is written.
  const begun = /^[a-z]+ /.test(message) ? message[0].toUpperCase() + message.slice(1) : message;
  return begun + (/[.!?]$/.test(begun) ? "" : ".");
}

/**
 * Try until the server answers: a lost connection is no answer. `onLost` is told each time.
 * Safe for moves, since a move carries the ply that it answers.
 */
export async function persist(call, onLost) {
  for (let wait = 500; ; wait = Math.min(wait * 2, 5000)) {
    try {
      return await call();
    } catch (error) {
      if (!(error instanceof ApiError) || (error.status !== 0 && error.status < 502)) throw error;
      onLost();
      await new Promise((resolve) => setTimeout(resolve, wait));
    }
  }
}

const SEATS = "arena.seats";
const KEPT = 300;

/** The secrets of the seats that this browser holds in a game: {X: …, O: …}. */
export function seatsOf(game) {
  return read(SEATS)[game] ?? {};
}

/** Keep the secrets of a new game; the oldest ones go. */
export function keepSeats(game, tokens) {
  const all = { ...read(SEATS), [game]: tokens };
  write(SEATS, Object.fromEntries(Object.entries(all).slice(-KEPT)));
}

const SETUP = "arena.setup";
/** What the person chose last time. */
export const lastSetup = () => read(SETUP);
export const keepSetup = (setup) => write(SETUP, setup);

function read(key) {
  try {
    const value = JSON.parse(localStorage.getItem(key));
    return value && typeof value === "object" ? value : {};
  } catch {
    return {};
  }
}

function write(key, value) {
  try {
    localStorage.setItem(key, JSON.stringify(value));
  } catch {
    // Without storage a refresh loses the seat; the game itself is on the server.
  }
}
