// What differs between two texts, by words of any script; by lines where there are too many words.

/** A text cut into words and what stands between them. @param {string} text @returns {string[]} */
export function words(text) {
  if (typeof Intl.Segmenter !== "function") return text.match(/\s+|[\p{L}\p{N}_]+|[^\s\p{L}\p{N}_]/gu) ?? [];
  return Array.from(new Intl.Segmenter(undefined, { granularity: "word" }).segment(text), (part) => part.segment);
}

/** A text cut into lines, each with its end. @param {string} text */
export function lines(text) {
  return text.match(/[^\n]*\n|[^\n]+$/g) ?? [];
}

/**
 * The steps from one list to another, as few as can be: [sign, items] with "=", "-" and "+".
 * @param {string[]} a @param {string[]} b @param {number} until when to give up, as of performance.now()
 * @returns {Array<[string, string[]]>|null} null where the time is up
 */
export function steps(a, b, until) {
  let start = 0, endA = a.length, endB = b.length;
  while (start < endA && start < endB && a[start] === b[start]) start++;
  while (endA > start && endB > start && a[endA - 1] === b[endB - 1]) { endA--; endB--; }
  const path = shortest(a.slice(start, endA), b.slice(start, endB), until);
  if (!path) return null;
  const found = [];
  const add = (sign, item) => {
    const last = found[found.length - 1];
    if (last && last[0] === sign) last[1].push(item);
    else found.push([sign, [item]]);
  };
  for (const item of a.slice(0, start)) add("=", item);
  for (const [sign, item] of path) add(sign, item);
  for (const item of a.slice(endA)) add("=", item);
  return found;
}

// The greedy algorithm of Myers 1986, "An O(ND) difference algorithm and its variations", with its trace kept.
function shortest(a, b, until) {
  const n = a.length, m = b.length, most = n + m, trace = [];
  let reach = new Int32Array([0, 0, 0]);
  for (let d = 0; d <= most; d++) {
    if (d % 16 === 0 && performance.now() > until) return null;
    const next = new Int32Array(2 * d + 3);
    for (let k = -d; k <= d; k += 2) {
      const down = d === 0 ? 0 : at(reach, d - 1, k + 1), right = d === 0 ? -1 : at(reach, d - 1, k - 1) + 1;
      let x = k === -d || (k !== d && at(reach, d - 1, k - 1) < at(reach, d - 1, k + 1)) ? down : right;
      if (d === 0) x = 0;
      let y = x - k;
      while (x < n && y < m && a[x] === b[y]) { x++; y++; }
      next[k + d + 1] = x;
      if (x >= n && y >= m) return back(a, b, [...trace, next], d, k);
    }
    trace.push(next);
    reach = next;
  }
  return [];
}

function at(reach, d, k) {
  return k < -d || k > d ? -1 : reach[k + d + 1];
}

function back(a, b, trace, d, k) {
  const found = [];
  let x = a.length, y = b.length;
  for (; d > 0; d--) {
    const before = trace[d - 1];
    const down = k === -d || (k !== d && at(before, d - 1, k - 1) < at(before, d - 1, k + 1));
    k = down ? k + 1 : k - 1;
    const fromX = at(before, d - 1, k), fromY = fromX - k;
    while (x > (down ? fromX : fromX + 1) && y > (down ? fromY + 1 : fromY)) found.push(["=", a[--x], y--]);
    if (down) found.push(["+", b[--y]]);
    else found.push(["-", a[--x]]);
  }
  while (x > 0) found.push(["=", a[--x]]);
  return found.reverse();
}

/**
 * The difference of two texts, and by what it was found: "words", "lines", or "nothing" where both took too long.
 * @param {string} before @param {string} after @param {number} limit milliseconds for each
 */
export function difference(before, after, limit = 200) {
  for (const [by, cut] of [["words", words], ["lines", lines]]) {
    const found = steps(cut(before), cut(after), performance.now() + limit);
    if (found) return { by, parts: found.map(([sign, items]) => [sign, items.join("")]) };
  }
  return { by: "nothing", parts: [["-", before], ["+", after]] };
}
