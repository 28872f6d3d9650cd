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

/**
 * The places of the tasks under a flag that hold every term, in their id or their texts.
 * @param {object} data @param {string} flag @param {string[]} terms @param {string} order @returns {number[]}
 */
export function chosen(data, flag, terms, order = "task") {
  const bit = data.settings.flags.indexOf(flag);
  const found = [];
  for (const place of inOrder(data, order)) {
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

/** All places in an order, sorted once and kept; ties stay in the order of the ids, which is that of the places. */
function inOrder(data, order) {
  if (data.orders.has(order)) return data.orders.get(order);
  const key = keyOf(data, order), places = Uint32Array.from({ length: data.size }, (_, place) => place);
  if (key) {
    const keys = Float64Array.from(places, key);
    places.sort((a, b) => keys[a] - keys[b] || a - b);
  }
  data.orders.set(order, places);
  return places;
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
