// What the page carries: numbers of the tasks in columns at once, their texts when they are first needed.

/** The text of an inert block of the page, empty where there is none. @param {string} id */
export function block(id) {
  const element = document.getElementById(id);
  return element ? element.textContent.trim() : "";
}

/** A text that was deflated and put into base64. @param {string} packed @returns {Promise<string>} */
export async function unpacked(packed) {
  const bytes = Uint8Array.from(atob(packed), (sign) => sign.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Response(stream).text();
}

/**
 * How much better a task is after, above 0 for a gain; without a first arm, how good it is.
 * Counts are compared as whole numbers, so that equal rates differ by exactly 0.
 */
export function gainOf(columns, place, lower) {
  const { before, after } = columns;
  let change;
  if (after.c) {
    const n = after.n[place], c = after.c[place];
    if (!before) change = n ? c / n : 0;
    else {
      const m = before.n[place];
      change = n && m ? (c * m - before.c[place] * n) / (n * m) : 0;
    }
  } else {
    const old = before ? before.mean[place] ?? 0 : 0, now = after.mean[place] ?? 0;
    change = now - old;
    if (Math.abs(change) <= 1e-8 * Math.max(Math.abs(old), Math.abs(now))) change = 0;
  }
  return lower ? -change : change;
}

/** The rates of a task as they are written: 3/4 -> 1/4. */
export function rateText(columns, place) {
  const sides = [columns.before, columns.after].filter(Boolean);
  return sides.map((side) => (side.c ? `${side.c[place]}/${side.n[place]}` : String(+(side.mean[place] ?? NaN).toPrecision(4)))).join(" \u2192 ");
}

/** Everything but the texts. */
export async function loaded() {
  const settings = JSON.parse(block("wai-settings"));
  const columns = JSON.parse(await unpacked(block("wai-columns")));
  const places = block("wai-places");
  const among = places ? JSON.parse(await unpacked(places)) : null;
  const size = columns.ids.length;
  const gain = Float64Array.from({ length: size }, (_, place) => gainOf(columns, place, settings.lower));
  return { settings, columns, among, size, gain, ids: columns.ids.map((id) => id.toLowerCase()), texts: new Map(), hay: [], orders: new Map() };
}

/** The texts, one record a task: prompt, rows of each arm, gold. What is searched is kept beside them in lower case. */
export async function loadTexts(data) {
  const packed = block("wai-texts");
  if (!packed || data.texts.size) return;
  const at = data.among ? new Map(data.among.map((place, index) => [place, index])) : null;
  for (const line of (await unpacked(packed)).split("\n")) {
    if (!line) continue;
    const [place, prompt, ...rest] = JSON.parse(line);
    const arms = rest.slice(0, data.settings.arms.length);
    const index = at ? at.get(place) : place;
    data.texts.set(index, { prompt, arms, gold: rest[arms.length] ?? null });
    const said = arms.flat().map((row) => [row[0], row[4], ...(row[6] ?? []).map((step) => step[1])].join("\n"));
    data.hay[index] = [prompt, ...said].join("\n").toLowerCase();
  }
  data.orders.clear(); // one of them is by the length of texts
}
