// The columns of the leaderboard: what each shows, sorts by, and gives to a file.

import { address, count, h, link } from "./dom.js";
import { amount, DASH, gamesOf, gapCell, lowestCell, percent, rateCell, shareCell, sharesText, short } from "./numbers.js";

const SEATS = { replying: "replying", opening: "opening", mean: "even mean" };

const versus = (row, opponent) => row.versus.find((each) => each.opponent === opponent);

/** A share with its interval, flat. */
const flat = (key, rate, more = {}) => ({ [key]: rate?.share ?? null, [`${key} low`]: rate?.interval?.low ?? null, [`${key} high`]: rate?.interval?.high ?? null, ...more });

function rateColumn(opponent, seat) {
  const label = `${short(opponent)}, ${SEATS[seat]}`;
  const of = (row) => versus(row, opponent)[seat];
  if (seat === "mean")
    return {
      key: `${opponent} mean`,
      label,
      group: opponent,
      short: "even mean",
      value: (row) => of(row)?.share ?? null,
      cell: (row) => shareCell(of(row)?.share ?? null, of(row)?.interval ?? null, null, "The mean of both seats, each counting one half"),
      file: (row) => flat(`${opponent} mean`, of(row)),
    };
  return {
    key: `${opponent} ${seat}`,
    label,
    group: opponent,
    short: seat,
    value: (row) => of(row).rate?.share ?? null,
    cell: (row) => rateCell(of(row), gamesOf(row.player, versus(row, opponent), seat === "opening")),
    file: (row) => flat(`${opponent} ${seat}`, of(row).rate, { [`${opponent} ${seat} games`]: of(row).games, [`${opponent} ${seat} distinct`]: of(row).distinct, [`${opponent} ${seat} exact`]: of(row).exact }),
  };
}

/** Wins, draws and losses against an opponent that errs. */
function recordColumn(opponent, seat, ceilings) {
  const of = (row) => versus(row, opponent)[seat];
  const key = `${opponent} ${seat} results`;
  const most = opponent === "random" ? ceilings[seat] : null;
  return {
    key,
    label: `${short(opponent)}, ${seat}, W · D · L %`,
    note: most === null ? null : `wins at most ${(100 * most).toFixed(1)}`,
    group: opponent,
    short: `${seat}, W · D · L`,
    value: (row) => of(row).shares?.wins ?? null,
    cell: (row) => {
      const { shares, games, void: voids, exact } = of(row);
      const href = gamesOf(row.player, versus(row, opponent), seat === "opening");
      const text = sharesText(shares);
      return h("td", { class: "number" }, href ? link(href, text) : text, games > 0 ? h("small", {}, games === 1 ? "1 game" : `${count(games)} games`) : exact && h("small", {}, "exact"), voids > 0 && h("small", {}, `${count(voids)} void`));
    },
    file: (row) => ({
      [`${opponent} ${seat} wins`]: of(row).shares?.wins ?? null,
      [`${opponent} ${seat} draws`]: of(row).shares?.draws ?? null,
      [`${opponent} ${seat} losses`]: of(row).shares?.losses ?? null,
      [`${opponent} ${seat} games`]: of(row).games,
    }),
  };
}

const lowest = (key, label) => ({
  key,
  label,
  group: "Both seats and all opponents",
  value: (row) => row[key]?.share ?? null,
  cell: (row) => lowestCell(row[key]),
  file: (row) => flat(label, row[key], { [`${label} opponent`]: row[key]?.opponents.join(" ") ?? null, [`${label} not measured`]: row[key]?.missing.length ?? null }),
});

/** A plain figure; `shown` is null where nothing was measured. */
const plain = (key, label, value, shown, small = () => null) => ({
  key,
  label,
  group: "Replies and games",
  value,
  cell: (row) => h("td", { class: "number" }, shown(row), small(row) && h("small", {}, small(row))),
  file: (row) => ({ [label]: value(row) }),
});

const spoken = (row) => row.total.replies > 0;
const played = (row) => row.total.games + row.total.void + row.total.repeats > 0;

/** Every column of a panel, in order. */
export function columnsOf({ checkpoints, references, ceilings }) {
  const entries = (checkpoints[0] ?? references[0]).versus;
  const perfect = entries.filter((each) => each.perfect).map((each) => each.opponent);
  const others = entries.filter((each) => !each.perfect).map((each) => each.opponent);
  return [
    lowest("worst_replying", "Worst opponent, replying"),
    lowest("worst_opening", "Worst opponent, opening"),
    {
      key: "gap",
      label: "Memorisation gap, points",
      group: "Both seats and all opponents",
      value: (row) => row.gap.gap,
      cell: (row) => gapCell(row.gap),
      file: ({ gap }) => ({ "Memorisation gap": gap.gap, "Memorisation gap low": gap.interval?.low ?? null, "Memorisation gap high": gap.interval?.high ?? null, "Memorisation gap opponent": gap.opponent }),
    },
    ...perfect.flatMap((opponent) => Object.keys(SEATS).map((seat) => rateColumn(opponent, seat))),
    ...others.flatMap((opponent) => ["opening", "replying"].map((seat) => recordColumn(opponent, seat, ceilings))),
    plain("forfeits", "Forfeits", (row) => (row.total.games ? row.total.forfeits : null), (row) => (row.total.games ? count(row.total.forfeits) : DASH), (row) => row.total.games > 0 && `of ${count(row.total.losses)} lost`),
    plain("invalid", "Invalid replies", (row) => row.invalid_share, (row) => percent(row.invalid_share), (row) => spoken(row) && `of ${count(row.total.replies)}`),
    plain("format", "Format followed", (row) => row.format_followed, (row) => percent(row.format_followed), (row) => row.notes.join(" ")),
    plain("distinct", "Distinct games", (row) => (row.total.games ? row.total.distinct : null), (row) => (row.total.games ? `${count(row.total.distinct)}/${count(row.total.games + row.total.repeats)}` : DASH)),
    plain("games", "Games", (row) => (row.reference ? null : row.total.games), (row) => (row.reference ? DASH : row.player ? link(address("/games", { player: row.player.name, player_id: row.player.id, rated: true }), count(row.total.games)) : count(row.total.games))),
    plain("void", "Void games", (row) => (played(row) ? row.total.void : null), (row) => (played(row) ? count(row.total.void) : DASH)),
    plain("tokens", "Tokens per move", (row) => row.tokens_per_move, (row) => amount(row.tokens_per_move)),
    plain("seconds", "Seconds per move", (row) => row.seconds_per_move, (row) => (row.seconds_per_move === null ? DASH : row.seconds_per_move.toFixed(2))),
  ];
}

/** What is shown where nobody chose: the answer first. */
export function usualColumns(columns) {
  const rate = columns.find((each) => each.key === "minimax replying") ?? columns.find((each) => each.key.endsWith(" replying"));
  const wanted = [rate?.key, "worst_replying", "worst_opening", "gap", "random opening results", "random replying results", "forfeits", "invalid", "format", "distinct"];
  return columns.filter((each) => wanted.includes(each.key)).map((each) => each.key);
}

