// What differs between two texts, by words of any script; by lines where there are too many words.
import { diffArrays } from "diff";

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
 * The difference of two texts as [sign, text] with "=", "-" and "+", and by what it was found: "words", "lines", or
 * "nothing" where both took too long.
 * @param {string} before @param {string} after @param {number} timeout milliseconds for each
 * @returns {{by: string, parts: Array<[string, string]>}}
 */
export function difference(before, after, timeout = 200) {
  for (const [by, cut] of [["words", words], ["lines", lines]]) {
    const found = diffArrays(cut(before), cut(after), { timeout });
    if (found) return { by, parts: found.map((part) => [part.added ? "+" : part.removed ? "-" : "=", part.value.join("")]) };
  }
  return { by: "nothing", parts: [["-", before], ["+", after]] };
}
