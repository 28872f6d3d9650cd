// One task opened: its prompt, a row of each arm side by side, what differs. Text of rows is only ever text.
import { difference } from "./diff.js";
import { rateText } from "./store.js";

const UNFIT = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufffe\uffff]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g;

/** A text with invisible, direction and control characters shown as [U+202E]. @param {string} text */
export function shownText(text) {
  return text.replace(UNFIT, (sign) => `[U+${sign.charCodeAt(0).toString(16).toUpperCase().padStart(4, "0")}]`);
}

/** An element with a class and text or children. */
export function element(name, kind = "", ...children) {
  const made = document.createElement(name);
  if (kind) made.className = kind;
  made.append(...children);
  return made;
}

/** Put a text into an element, what was searched for marked. */
export function put(parent, text, terms) {
  const shown = shownText(text), lower = shown.toLowerCase();
  let from = 0;
  while (terms.length && lower.length === shown.length) {
    let next = -1, size = 0;
    for (const term of terms) {
      const place = lower.indexOf(term, from);
      if (place >= 0 && (next < 0 || place < next || (place === next && term.length > size))) { next = place; size = term.length; }
    }
    if (next < 0) break;
    parent.append(shown.slice(from, next), element("mark", "", shown.slice(next, next + size)));
    from = next + size;
  }
  parent.append(shown.slice(from));
  return parent;
}

function verdictOf(row) {
  const reward = row[1];
  const word = reward === null ? "unjudged" : reward === 1 ? "pass" : reward === 0 ? "fail" : `reward ${+reward.toPrecision(4)}`;
  return { word, kind: reward === null ? "none" : reward >= 0.5 ? "pass" : "fail" };
}

function text(kind, label) {
  const made = element("pre", kind);
  made.dir = "auto";
  made.tabIndex = 0;
  made.setAttribute("role", "region");
  made.setAttribute("aria-label", label);
  return made;
}

function reply(row, parts, sign, terms, label) {
  const pre = text("reply", label);
  if (!parts) return put(pre, row[0], terms);
  for (const [kind, piece] of parts) {
    if (kind === "=") put(pre, piece, terms);
    else if (kind === sign) {
      const inside = put(element(sign === "-" ? "del" : "ins"), piece, terms);
      inside.prepend(element("span", "vh", `[${sign}`));
      inside.append(element("span", "vh", `${sign}]`));
      pre.append(inside);
    }
  }
  return pre;
}

/** What happened before the reply: calls of tools, what they returned, what else was said. */
function stepsOf(row, terms) {
  if (!row[6]) return null;
  const calls = row[6].filter(([kind]) => kind === "call").length;
  const list = element("ol", "steps", ...row[6].map(([kind, said]) => {
    const step = element("li", kind, element("span", "kind", kind), " ");
    const body = put(element("code"), said, terms);
    body.dir = "auto";
    step.append(body);
    return step;
  }));
  const told = `${row[6].length} step${row[6].length === 1 ? "" : "s"} before the reply, ${calls} tool call${calls === 1 ? "" : "s"}`;
  const box = element("details", "", element("summary", "", told), list);
  box.open = true;
  return box;
}

function markersOf(rows, names) {
  const found = [...new Set(rows.flatMap((row) => (row ? Object.keys(row[5]) : [])))].sort();
  if (!found.length) return null;
  const two = rows.length > 1;
  const table = element("table"), head = element("tr");
  for (const name of ["marker", ...names, ...(two ? ["change"] : [])]) {
    const cell = element("th", name === "marker" ? "" : "num", name);
    cell.scope = "col";
    head.append(cell);
  }
  const body = element("tbody");
  for (const name of found) {
    const values = rows.map((row) => (row ? row[5][name] : undefined));
    const title = element("th", "", shownText(name));
    title.scope = "row";
    const line = element("tr", "", title, ...values.map((value) => element("td", "num", value === undefined ? "-" : String(+value.toPrecision(6)))));
    if (two) {
      const change = values.every((value) => value !== undefined) ? values[1] - values[0] : null;
      line.append(element("td", "num", change === null ? "-" : (change > 0 ? "+" : "") + String(+change.toPrecision(6))));
    }
    body.append(line);
  }
  table.append(element("thead", "", head), body);
  table.prepend(element("caption", "", "Markers of these rows"));
  const box = element("div", "markers scroll", table);
  box.tabIndex = 0;
  box.setAttribute("role", "region");
  box.setAttribute("aria-label", "Markers of these rows");
  return box;
}

/** How many pairs of rows a task has: the longer of its arms. */
export function pairsOf(texts) {
  return texts ? Math.max(1, ...texts.arms.map((rows) => rows.length)) : 1;
}

/**
 * Fill the pane of the open task.
 * @param {HTMLElement} pane @param {object} data @param {number} place
 * @param {{pair: number, differ: boolean, terms: string[]}} how @param {(step: number) => void} turn
 */
export function fill(pane, data, place, how, turn) {
  const { columns, settings } = data, texts = data.texts.get(place);
  const title = element("h3", "", shownText(columns.ids[place]));
  title.tabIndex = -1;
  pane.replaceChildren(title, element("p", "size", rateText(columns, place)));
  if (!texts) {
    pane.append(element("p", "", settings.texts ? `Its texts found no room on this page. For others: ${settings.more}` : "This page holds no texts."));
    return;
  }
  pane.append(element("h4", "", "Prompt"), put(text("prompt", "Prompt"), texts.prompt, how.terms));
  if (texts.gold !== null) pane.append(element("h4", "", "Gold"), put(text("gold", "Gold"), texts.gold, how.terms));
  const rows = texts.arms.map((arm) => arm[Math.min(how.pair, arm.length - 1)]);
  const found = rows.length === 2 && rows.every(Boolean) && how.differ ? difference(rows[0][0], rows[1][0]) : null;
  const sides = element("div", rows.length > 1 ? "sides two" : "sides");
  rows.forEach((row, side) => {
    const name = settings.arms[side], box = element("div", "side");
    if (!row) box.append(element("h4", "", `${name}: no row`));
    else {
      const verdict = verdictOf(row);
      const parts = found && found.by !== "nothing" ? found.parts : null;
      box.append(element("h4", "", rows.length > 1 ? `${name}: ` : "", element("span", `word ${verdict.kind}`, verdict.word)));
      const steps = stepsOf(row, how.terms);
      if (steps) box.append(steps);
      box.append(reply(row, parts, side === 0 ? "-" : "+", how.terms, `${name}, the completion`));
      const told = [row[2] && row[2] !== "ok" ? `status ${row[2]}` : "", row[3] ? `judge ${row[3]}` : ""].filter(Boolean).join(", ");
      if (told) box.append(element("p", "size", shownText(told)));
      if (row[4]) box.append(put(element("p", "reason", "Reason: "), row[4], how.terms));
    }
    sides.append(box);
  });
  const pairs = pairsOf(texts);
  if (pairs > 1) {
    const earlier = element("button", "", "Previous rows"), later = element("button", "", "Next rows");
    earlier.type = later.type = "button";
    earlier.addEventListener("click", () => turn(-1));
    later.addEventListener("click", () => turn(1));
    pane.append(element("p", "pairs", earlier, ` rows ${how.pair + 1} of ${pairs} `, later));
    const strip = texts.arms.map((arm, side) => `${settings.arms[side]} ${arm.map((row) => verdictOf(row).word[0].toUpperCase()).join(" ")}`);
    pane.append(element("p", "size", strip.join(" | ")));
  }
  if (found && found.by === "lines") pane.append(element("p", "size", "Differences by line: there are too many words."));
  if (found && found.by === "nothing") pane.append(element("p", "size", "No differences marked: the texts are too long."));
  pane.append(sides);
  const markers = markersOf(rows, settings.arms);
  if (markers) pane.append(markers);
}
