// Which tasks are shown, and in what order.

/** The terms of a search, all of which must be found: words, and "phrases" as they stand. @param {string} query */
export function termsOf(query) {
  const found = [];
  for (const match of query.toLowerCase().matchAll(/"([^"]+)"?|(\S+)/g)) {
    const term = (match[1] ?? match[2]).replaceAll('"', "").trim();
    if (term) found.push(term);
  }
  return found;
}

/** The places of the tasks under a flag that hold every term, in their id or their texts. */
export function chosen(data, flag, terms) {
  const bit = data.settings.flags.indexOf(flag);
  const found = [];
  for (let place = 0; place < data.size; place++) {
    if (!((data.columns.flags[place] >> bit) & 1)) continue;
    const hay = data.hay[place];
    if (terms.every((term) => data.ids[place].includes(term) || (hay !== undefined && hay.includes(term)))) found.push(place);
  }
  return found;
}

/** The orders that this page has, by name, with what they are called. */
export function ordersOf(data) {
  const two = Boolean(data.columns.before);
  const orders = [["loss", two ? "largest loss" : "lowest rate"], ["gain", two ? "largest gain" : "highest rate"], ["task", "task"]];
  if (data.settings.texts) orders.push(["long", "longest completion"]);
  for (const name of Object.keys(data.columns.markers ?? {})) {
    orders.push([`up:${name}`, `${name}, ${two ? "largest rise" : "highest"}`], [`down:${name}`, `${name}, ${two ? "largest fall" : "lowest"}`]);
  }
  return orders;
}

/** Places in an order; ties stay in the order of the ids, which is that of the places. */
export function sorted(data, places, order) {
  const key = keyOf(data, order);
  if (!key) return places;
  const keys = new Map(places.map((place) => [place, key(place)]));
  return [...places].sort((a, b) => keys.get(a) - keys.get(b) || a - b);
}

function keyOf(data, order) {
  const [kind, ...rest] = order.split(":");
  const name = rest.join(":");
  if (kind === "loss") return (place) => data.gain[place];
  if (kind === "gain") return (place) => -data.gain[place];
  if (kind === "long") return (place) => -longest(data.texts.get(place));
  const values = data.columns.markers?.[name];
  if (kind === "up" && values) return (place) => -(values[place] ?? -Infinity);
  if (kind === "down" && values) return (place) => values[place] ?? Infinity;
  return null;
}

function longest(texts) {
  return texts ? Math.max(0, ...texts.arms.flat().map((row) => row[0].length)) : 0;
}
