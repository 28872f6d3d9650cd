import assert from "node:assert/strict";
import test from "node:test";
import { difference, words } from "./diff.js";
import { chosen, ordersOf, termsOf } from "./filter.js";
import { gainOf, rateText, unpacked } from "./store.js";
import { shownText } from "./view.js";

test("a difference gives both texts back, with the longest common part", () => {
  let seed = 7;
  const draw = (n) => (seed = (seed * 48271) % 2147483647) % n;
  const side = (parts, sign) => parts.filter(([kind]) => kind === "=" || kind === sign).map(([, text]) => text).join("");
  for (let round = 0; round < 400; round++) {
    const [a, b] = [0, 0].map(() => Array.from({ length: draw(11) }, () => ["a ", "bb ", "c, "][draw(3)]).join(""));
    const { by, parts } = difference(a, b, Infinity);
    assert.deepEqual([by, side(parts, "-"), side(parts, "+")], ["words", a, b]);
    const [from, to] = [words(a), words(b)];
    const length = Array.from({ length: from.length + 1 }, () => new Array(to.length + 1).fill(0));
    for (let i = 1; i <= from.length; i++) for (let j = 1; j <= to.length; j++) {
      length[i][j] = from[i - 1] === to[j - 1] ? length[i - 1][j - 1] + 1 : Math.max(length[i - 1][j], length[i][j - 1]);
    }
    const kept = parts.filter(([sign]) => sign === "=").reduce((sum, [, text]) => sum + words(text).length, 0);
    assert.equal(kept, length[from.length][to.length], `${a}|${b}`);
  }
});

test("words of any script, spaces kept", () => {
  for (const text of ["so 12 eggs", "これは本です。", "Это 5 яиц\n\n", "a\u0301b", ""]) assert.equal(words(text).join(""), text);
  const { by, parts } = difference("so 12 eggs are left", "so 21 eggs are left");
  assert.equal(by, "words");
  assert.deepEqual(parts, [["=", "so "], ["-", "12"], ["+", "21"], ["=", " eggs are left"]]);
});

test("texts that are too long to tell apart are shown whole", () => {
  const found = difference("a b c d", "e f g h", -1);
  assert.equal(found.by, "nothing");
  assert.deepEqual(found.parts, [["-", "a b c d"], ["+", "e f g h"]]);
});

test("words are all needed, phrases stay whole", () => {
  assert.deepEqual(termsOf('Two "red Eggs" x'), ["two", "red eggs", "x"]);
  assert.deepEqual(termsOf('  "open phrase'), ["open phrase"]);
  assert.deepEqual(termsOf('""'), []);
});

const data = {
  settings: { flags: ["lost", "won", "all"], texts: 2, lower: false },
  columns: {
    ids: ["A", "B", "C"], flags: [5, 6, 4], before: { n: [3, 2, 1], c: [2, 1, 0] }, after: { n: [3, 4, 1], c: [1, 4, 0] },
    markers: { "marker:chars": [3, null, -9] },
  },
  size: 3, ids: ["a", "b", "c"], gain: [-1 / 3, 0.5, 0], hay: ["two red eggs", "blue"], texts: new Map(), orders: new Map(),
};

test("filters, searches, orders", () => {
  assert.deepEqual(chosen(data, "lost", []), [0]);
  assert.deepEqual(chosen(data, "all", termsOf("eggs red")), [0]);
  assert.deepEqual(chosen(data, "all", termsOf("c")), [2]);
  assert.deepEqual(chosen(data, "all", termsOf("c eggs")), []);
  assert.deepEqual(chosen(data, "all", [], "gain"), [1, 2, 0]);
  assert.deepEqual(chosen(data, "all", [], "up:marker:chars"), [0, 2, 1]);
  assert.deepEqual(chosen(data, "all", [], "down:marker:chars"), [2, 0, 1]);
  assert.deepEqual(chosen(data, "all", [], "task"), [0, 1, 2]);
  assert.deepEqual(ordersOf(data).map(([name]) => name), ["loss", "gain", "task", "long", "up:marker:chars", "down:marker:chars"]);
});

test("gains are exact", () => {
  assert.equal(gainOf({ before: { n: [3], c: [1] }, after: { n: [6], c: [2] } }, 0, false), 0);
  assert.equal(gainOf({ before: { n: [4], c: [1] }, after: { n: [4], c: [2] } }, 0, true), -0.25);
  assert.equal(gainOf({ before: null, after: { n: [4], c: [2] } }, 0, false), 0.5);
  assert.equal(gainOf({ before: { mean: [0.3] }, after: { mean: [0.30000000001] } }, 0, false), 0);
  assert.equal(rateText(data.columns, 1), "1/2 \u2192 4/4");
});

test("what cannot be seen is shown", () => {
  assert.equal(shownText("a\u202eb\u0000\ud800c\ufeff"), "a[U+202E]b[U+0000][U+D800]c[U+FEFF]");
  assert.equal(shownText("fine \u{1f600}\n\ttext é"), "fine \u{1f600}\n\ttext é");
});

test("blocks unpack", async () => {
  const { deflateSync } = await import("node:zlib");
  assert.equal(await unpacked(deflateSync("ä\ud83d\ude00").toString("base64")), "ä\ud83d\ude00");
});
