/* diffArrays is that of the npm package diff:

BSD 3-Clause License

Copyright (c) 2009-2015, Kevin Decker <kpdecker@gmail.com>
All rights reserved.

Redistribution and use in source and binary forms, with or without
modification, are permitted provided that the following conditions are met:

1. Redistributions of source code must retain the above copyright notice, this
   list of conditions and the following disclaimer.

2. Redistributions in binary form must reproduce the above copyright notice,
   this list of conditions and the following disclaimer in the documentation
   and/or other materials provided with the distribution.

3. Neither the name of the copyright holder nor the names of its
   contributors may be used to endorse or promote products derived from
   this software without specific prior written permission.

THIS SOFTWARE IS PROVIDED BY THE COPYRIGHT HOLDERS AND CONTRIBUTORS "AS IS"
AND ANY EXPRESS OR IMPLIED WARRANTIES, INCLUDING, BUT NOT LIMITED TO, THE
IMPLIED WARRANTIES OF MERCHANTABILITY AND FITNESS FOR A PARTICULAR PURPOSE ARE
DISCLAIMED. IN NO EVENT SHALL THE COPYRIGHT HOLDER OR CONTRIBUTORS BE LIABLE
FOR ANY DIRECT, INDIRECT, INCIDENTAL, SPECIAL, EXEMPLARY, OR CONSEQUENTIAL
DAMAGES (INCLUDING, BUT NOT LIMITED TO, PROCUREMENT OF SUBSTITUTE GOODS OR
SERVICES; LOSS OF USE, DATA, OR PROFITS; OR BUSINESS INTERRUPTION) HOWEVER
CAUSED AND ON ANY THEORY OF LIABILITY, WHETHER IN CONTRACT, STRICT LIABILITY,
OR TORT (INCLUDING NEGLIGENCE OR OTHERWISE) ARISING IN ANY WAY OUT OF THE USE
OF THIS SOFTWARE, EVEN IF ADVISED OF THE POSSIBILITY OF SUCH DAMAGE.
*/
(() => {
  // ../../src/whileai/pages/web/store.js
  function block(id) {
    const element2 = document.getElementById(id);
    return element2 ? element2.textContent.trim() : "";
  }
  async function unpacked(packed) {
    const bytes = Uint8Array.from(atob(packed), (sign) => sign.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
    return new Response(stream).text();
  }
  function gainOf(columns, place, lower) {
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
  function rateText(columns, place) {
    const sides = [columns.before, columns.after].filter(Boolean);
    return sides.map((side) => side.c ? `${side.c[place]}/${side.n[place]}` : String(+(side.mean[place] ?? NaN).toPrecision(4))).join(" \u2192 ");
  }
  async function loaded() {
    const settings = JSON.parse(block("wai-settings"));
    const columns = JSON.parse(await unpacked(block("wai-columns")));
    const places = block("wai-places");
    const among = places ? JSON.parse(await unpacked(places)) : null;
    const size = columns.ids.length;
    const gain = Float64Array.from({ length: size }, (_, place) => gainOf(columns, place, settings.lower));
    return { settings, columns, among, size, gain, ids: columns.ids.map((id) => id.toLowerCase()), texts: /* @__PURE__ */ new Map(), hay: [], orders: /* @__PURE__ */ new Map() };
  }
  async function loadTexts(data) {
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
    data.orders.clear();
  }

  // ../../src/whileai/pages/web/filter.js
  function termsOf(query) {
    const found = [];
    for (const match of query.toLowerCase().matchAll(/"([^"]+)"?|(\S+)/g)) {
      const term = (match[1] ?? match[2]).replaceAll('"', "").trim();
      if (term) found.push(term);
    }
    return found;
  }
  function chosen(data, flag, terms, order = "task") {
    const bit = data.settings.flags.indexOf(flag);
    const found = [];
    for (const place of inOrder(data, order)) {
      if (!(data.columns.flags[place] >> bit & 1)) continue;
      const hay = data.hay[place];
      if (terms.every((term) => data.ids[place].includes(term) || hay !== void 0 && hay.includes(term))) found.push(place);
    }
    return found;
  }
  function ordersOf(data) {
    const two = Boolean(data.columns.before);
    const orders = [["loss", two ? "largest loss" : "lowest rate"], ["gain", two ? "largest gain" : "highest rate"], ["task", "task"]];
    if (data.settings.texts) orders.push(["long", "longest completion"]);
    for (const name of Object.keys(data.columns.markers ?? {})) {
      orders.push([`up:${name}`, `${name}, ${two ? "largest rise" : "highest"}`], [`down:${name}`, `${name}, ${two ? "largest fall" : "lowest"}`]);
    }
    return orders;
  }
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

  // node_modules/diff/libesm/diff/base.js
  var Diff = class {
    diff(oldStr, newStr, options = {}) {
      let callback;
      if (typeof options === "function") {
        callback = options;
        options = {};
      } else if ("callback" in options) {
        callback = options.callback;
      }
      const oldString = this.castInput(oldStr, options);
      const newString = this.castInput(newStr, options);
      const oldTokens = this.removeEmpty(this.tokenize(oldString, options));
      const newTokens = this.removeEmpty(this.tokenize(newString, options));
      return this.diffWithOptionsObj(oldTokens, newTokens, options, callback);
    }
    diffWithOptionsObj(oldTokens, newTokens, options, callback) {
      var _a;
      const done = (value) => {
        value = this.postProcess(value, options);
        if (callback) {
          setTimeout(function() {
            callback(value);
          }, 0);
          return void 0;
        } else {
          return value;
        }
      };
      const newLen = newTokens.length, oldLen = oldTokens.length;
      let editLength = 1;
      let maxEditLength = newLen + oldLen;
      if (options.maxEditLength != null) {
        maxEditLength = Math.min(maxEditLength, options.maxEditLength);
      }
      const maxExecutionTime = (_a = options.timeout) !== null && _a !== void 0 ? _a : Infinity;
      const abortAfterTimestamp = Date.now() + maxExecutionTime;
      const bestPath = [{ oldPos: -1, lastComponent: void 0 }];
      let newPos = this.extractCommon(bestPath[0], newTokens, oldTokens, 0, options);
      if (bestPath[0].oldPos + 1 >= oldLen && newPos + 1 >= newLen) {
        return done(this.buildValues(bestPath[0].lastComponent, newTokens, oldTokens));
      }
      let minDiagonalToConsider = -Infinity, maxDiagonalToConsider = Infinity;
      const execEditLength = () => {
        for (let diagonalPath = Math.max(minDiagonalToConsider, -editLength); diagonalPath <= Math.min(maxDiagonalToConsider, editLength); diagonalPath += 2) {
          let basePath;
          const removePath = bestPath[diagonalPath - 1], addPath = bestPath[diagonalPath + 1];
          if (removePath) {
            bestPath[diagonalPath - 1] = void 0;
          }
          let canAdd = false;
          if (addPath) {
            const addPathNewPos = addPath.oldPos - diagonalPath;
            canAdd = addPath && 0 <= addPathNewPos && addPathNewPos < newLen;
          }
          const canRemove = removePath && removePath.oldPos + 1 < oldLen;
          if (!canAdd && !canRemove) {
            bestPath[diagonalPath] = void 0;
            continue;
          }
          if (!canRemove || canAdd && removePath.oldPos < addPath.oldPos) {
            basePath = this.addToPath(addPath, true, false, 0, options);
          } else {
            basePath = this.addToPath(removePath, false, true, 1, options);
          }
          newPos = this.extractCommon(basePath, newTokens, oldTokens, diagonalPath, options);
          if (basePath.oldPos + 1 >= oldLen && newPos + 1 >= newLen) {
            return done(this.buildValues(basePath.lastComponent, newTokens, oldTokens)) || true;
          } else {
            bestPath[diagonalPath] = basePath;
            if (basePath.oldPos + 1 >= oldLen) {
              maxDiagonalToConsider = Math.min(maxDiagonalToConsider, diagonalPath - 1);
            }
            if (newPos + 1 >= newLen) {
              minDiagonalToConsider = Math.max(minDiagonalToConsider, diagonalPath + 1);
            }
          }
        }
        editLength++;
      };
      if (callback) {
        (function exec() {
          setTimeout(function() {
            if (editLength > maxEditLength || Date.now() > abortAfterTimestamp) {
              return callback(void 0);
            }
            if (!execEditLength()) {
              exec();
            }
          }, 0);
        })();
      } else {
        while (editLength <= maxEditLength && Date.now() <= abortAfterTimestamp) {
          const ret = execEditLength();
          if (ret) {
            return ret;
          }
        }
      }
    }
    addToPath(path, added, removed, oldPosInc, options) {
      const last = path.lastComponent;
      if (last && !options.oneChangePerToken && last.added === added && last.removed === removed) {
        return {
          oldPos: path.oldPos + oldPosInc,
          lastComponent: { count: last.count + 1, added, removed, previousComponent: last.previousComponent }
        };
      } else {
        return {
          oldPos: path.oldPos + oldPosInc,
          lastComponent: { count: 1, added, removed, previousComponent: last }
        };
      }
    }
    extractCommon(basePath, newTokens, oldTokens, diagonalPath, options) {
      const newLen = newTokens.length, oldLen = oldTokens.length;
      let oldPos = basePath.oldPos, newPos = oldPos - diagonalPath, commonCount = 0;
      while (newPos + 1 < newLen && oldPos + 1 < oldLen && this.equals(oldTokens[oldPos + 1], newTokens[newPos + 1], options)) {
        newPos++;
        oldPos++;
        commonCount++;
        if (options.oneChangePerToken) {
          basePath.lastComponent = { count: 1, previousComponent: basePath.lastComponent, added: false, removed: false };
        }
      }
      if (commonCount && !options.oneChangePerToken) {
        basePath.lastComponent = { count: commonCount, previousComponent: basePath.lastComponent, added: false, removed: false };
      }
      basePath.oldPos = oldPos;
      return newPos;
    }
    equals(left, right, options) {
      if (options.comparator) {
        return options.comparator(left, right);
      } else {
        return left === right || !!options.ignoreCase && left.toLowerCase() === right.toLowerCase();
      }
    }
    removeEmpty(array) {
      const ret = [];
      for (let i = 0; i < array.length; i++) {
        if (array[i]) {
          ret.push(array[i]);
        }
      }
      return ret;
    }
    // eslint-disable-next-line @typescript-eslint/no-unused-vars
    castInput(value, options) {
      return value;
    }
    // eslint-disable-next-line @typescript-eslint/no-unused-vars
    tokenize(value, options) {
      return Array.from(value);
    }
    join(chars) {
      return chars.join("");
    }
    postProcess(changeObjects, options) {
      return changeObjects;
    }
    get useLongestToken() {
      return false;
    }
    buildValues(lastComponent, newTokens, oldTokens) {
      const components = [];
      let nextComponent;
      while (lastComponent) {
        components.push(lastComponent);
        nextComponent = lastComponent.previousComponent;
        delete lastComponent.previousComponent;
        lastComponent = nextComponent;
      }
      components.reverse();
      const componentLen = components.length;
      let componentPos = 0, newPos = 0, oldPos = 0;
      for (; componentPos < componentLen; componentPos++) {
        const component = components[componentPos];
        if (!component.removed) {
          if (!component.added && this.useLongestToken) {
            let value = newTokens.slice(newPos, newPos + component.count);
            value = value.map(function(value2, i) {
              const oldValue = oldTokens[oldPos + i];
              return oldValue.length > value2.length ? oldValue : value2;
            });
            component.value = this.join(value);
          } else {
            component.value = this.join(newTokens.slice(newPos, newPos + component.count));
          }
          newPos += component.count;
          if (!component.added) {
            oldPos += component.count;
          }
        } else {
          component.value = this.join(oldTokens.slice(oldPos, oldPos + component.count));
          oldPos += component.count;
        }
      }
      return components;
    }
  };

  // node_modules/diff/libesm/diff/array.js
  var ArrayDiff = class extends Diff {
    tokenize(value) {
      return value.slice();
    }
    join(value) {
      return value;
    }
    removeEmpty(value) {
      return value;
    }
  };
  var arrayDiff = new ArrayDiff();
  function diffArrays(oldArr, newArr, options) {
    return arrayDiff.diff(oldArr, newArr, options);
  }

  // ../../src/whileai/pages/web/diff.js
  function words(text2) {
    if (typeof Intl.Segmenter !== "function") return text2.match(/\s+|[\p{L}\p{N}_]+|[^\s\p{L}\p{N}_]/gu) ?? [];
    return Array.from(new Intl.Segmenter(void 0, { granularity: "word" }).segment(text2), (part) => part.segment);
  }
  function lines(text2) {
    return text2.match(/[^\n]*\n|[^\n]+$/g) ?? [];
  }
  function difference(before, after, timeout = 200) {
    for (const [by, cut] of [["words", words], ["lines", lines]]) {
      const found = diffArrays(cut(before), cut(after), { timeout });
      if (found) return { by, parts: found.map((part) => [part.added ? "+" : part.removed ? "-" : "=", part.value.join("")]) };
    }
    return { by: "nothing", parts: [["-", before], ["+", after]] };
  }

  // ../../src/whileai/pages/web/view.js
  var UNFIT = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufffe\uffff]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g;
  function shownText(text2) {
    return text2.replace(UNFIT, (sign) => `[U+${sign.charCodeAt(0).toString(16).toUpperCase().padStart(4, "0")}]`);
  }
  function element(name, kind = "", ...children) {
    const made = document.createElement(name);
    if (kind) made.className = kind;
    made.append(...children);
    return made;
  }
  function put(parent, text2, terms) {
    const shown = shownText(text2), lower = shown.toLowerCase();
    let from = 0;
    while (terms.length && lower.length === shown.length) {
      let next = -1, size = 0;
      for (const term of terms) {
        const place = lower.indexOf(term, from);
        if (place >= 0 && (next < 0 || place < next || place === next && term.length > size)) {
          next = place;
          size = term.length;
        }
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
    const found = [...new Set(rows.flatMap((row) => row ? Object.keys(row[5]) : []))].sort();
    if (!found.length) return null;
    const two = rows.length > 1;
    const table = element("table"), head = element("tr");
    for (const name of ["marker", ...names, ...two ? ["change"] : []]) {
      const cell = element("th", name === "marker" ? "" : "num", name);
      cell.scope = "col";
      head.append(cell);
    }
    const body = element("tbody");
    for (const name of found) {
      const values = rows.map((row) => row ? row[5][name] : void 0);
      const title = element("th", "", shownText(name));
      title.scope = "row";
      const line = element("tr", "", title, ...values.map((value) => element("td", "num", value === void 0 ? "-" : String(+value.toPrecision(6)))));
      if (two) {
        const change = values.every((value) => value !== void 0) ? values[1] - values[0] : null;
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
  function pairsOf(texts) {
    return texts ? Math.max(1, ...texts.arms.map((rows) => rows.length)) : 1;
  }
  function fill(pane, data, place, how, turn) {
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

  // ../../src/whileai/pages/web/list.js
  var ROW = 28;
  var TaskList = class {
    /** @param {HTMLElement} box @param {HTMLElement} rows @param {object} data @param {(place: number) => void} open */
    constructor(box, rows, data, open) {
      Object.assign(this, { box, rows, data, open, places: [], current: -1, opened: -1 });
      box.addEventListener("scroll", () => this.draw(), { passive: true });
      box.addEventListener("click", (event) => {
        const row = event.target.closest("[role=option]");
        if (row) {
          this.move(Number(row.dataset.rank));
          this.open(this.places[this.current]);
        }
      });
      if (typeof ResizeObserver === "function") new ResizeObserver(() => this.draw()).observe(box);
    }
    /** Show these places from the top, or where `keep` is set with the current task where it was. */
    set(places, keep) {
      const was = keep ? this.places[this.current] : void 0;
      if (!keep) this.box.scrollTop = 0;
      this.places = places;
      this.rows.style.height = `${places.length * ROW}px`;
      const rank = was === void 0 ? -1 : places.indexOf(was);
      this.current = rank >= 0 ? rank : places.length ? 0 : -1;
      this.show();
    }
    /** Make the task at a rank current. */
    move(rank) {
      if (!this.places.length) return;
      this.current = Math.max(0, Math.min(rank, this.places.length - 1));
      this.show();
    }
    /** Rows that fit. */
    get page() {
      return Math.max(1, Math.floor(this.box.clientHeight / ROW) - 1);
    }
    show() {
      const top = this.current * ROW, box = this.box;
      if (this.current >= 0 && top < box.scrollTop) box.scrollTop = top;
      if (this.current >= 0 && top + ROW > box.scrollTop + box.clientHeight) box.scrollTop = top + ROW - box.clientHeight;
      this.draw();
    }
    draw() {
      const first = Math.max(0, Math.floor(this.box.scrollTop / ROW) - 4);
      const last = Math.min(this.places.length, first + Math.ceil(this.box.clientHeight / ROW) + 9);
      const drawn = [];
      for (let rank = first; rank < last; rank++) drawn.push(this.row(rank));
      if (this.current >= 0 && (this.current < first || this.current >= last)) drawn.push(this.row(this.current));
      this.rows.replaceChildren(...drawn);
      if (this.current >= 0) this.box.setAttribute("aria-activedescendant", `task-${this.current}`);
      else this.box.removeAttribute("aria-activedescendant");
    }
    row(rank) {
      const place = this.places[rank], { columns, gain } = this.data;
      const row = document.createElement("div");
      row.id = `task-${rank}`;
      row.setAttribute("role", "option");
      row.setAttribute("aria-setsize", String(this.places.length));
      row.setAttribute("aria-posinset", String(rank + 1));
      row.setAttribute("aria-selected", String(place === this.opened));
      row.className = rank === this.current ? "row current" : "row";
      row.dataset.rank = String(rank);
      row.style.top = `${rank * ROW}px`;
      const change = document.createElement("span");
      const value = gain[place], raw = this.data.settings.lower ? -value : value;
      const two = Boolean(columns.before);
      change.className = `change ${!two ? "" : value > 0 ? "up" : value < 0 ? "down" : ""}`;
      const mark = !two ? "" : value > 0 ? "\u25C6 " : value < 0 ? "\u25BC " : "\u25A0 ";
      change.textContent = mark + (two && raw > 0 ? "+" : "") + (Math.abs(raw) < 1e4 ? raw.toFixed(2) : raw.toPrecision(4));
      const name = document.createElement("span");
      name.className = "name";
      name.textContent = shownText(columns.ids[place]);
      const rate = document.createElement("span");
      rate.className = "rate";
      rate.textContent = rateText(columns, place);
      row.append(change, " ", name, " ", rate);
      return row;
    }
  };

  // ../../src/whileai/pages/web/keys.js
  function listen(browser, act) {
    browser.addEventListener("keydown", (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey) return;
      const target = event.target, field = target.matches("input, select, textarea");
      if (field) {
        if (event.key === "Escape") {
          event.preventDefault();
          act.list.box.focus();
        }
        if (target === act.search && (event.key === "ArrowDown" || event.key === "Enter")) {
          event.preventDefault();
          act.list.box.focus();
        }
        return;
      }
      const inList = target === act.list.box, list = act.list;
      const moves = { ArrowDown: 1, ArrowUp: -1, PageDown: list.page, PageUp: -list.page, Home: -Infinity, End: Infinity };
      let done = true;
      if (inList && event.key in moves) list.move(list.current + moves[event.key]);
      else if (event.key === "j" || event.key === "k") {
        list.move(list.current + (event.key === "j" ? 1 : -1));
        if (!inList) act.open();
      } else if (inList && (event.key === "Enter" || event.key === " ")) act.open();
      else if (event.key === "Escape") act.leave();
      else if (event.key === "/") act.search.focus();
      else if (/^[1-9]$/.test(event.key)) done = act.filter(Number(event.key) - 1);
      else if (event.key === "s") act.order();
      else if (event.key === "n") act.turn(1);
      else if (event.key === "p") act.turn(-1);
      else if (event.key === "d") act.differ();
      else if (event.key === "?") act.help();
      else done = false;
      if (done) event.preventDefault();
    });
  }

  // ../../src/whileai/pages/web/main.js
  var find = (id) => document.getElementById(id);
  function themes() {
    const button = find("theme"), kinds = ["system", "light", "dark"];
    let kind = 0;
    button.addEventListener("click", () => {
      kind = (kind + 1) % kinds.length;
      if (kind) document.documentElement.dataset.theme = kinds[kind];
      else delete document.documentElement.dataset.theme;
      button.textContent = `Theme: ${kinds[kind]}`;
    });
    find("print").addEventListener("click", () => window.print());
    find("page-tools").hidden = false;
  }
  var Browser = class {
    constructor(data) {
      this.data = data;
      this.state = { f: ["lost", "won", "failing", "unstable"].find((flag) => chosen(data, flag, []).length) ?? "all", s: "loss", q: "", t: "" };
      this.pair = 0;
      this.differ = true;
      this.detail = find("detail");
      this.list = new TaskList(find("list"), find("rows"), data, (place) => this.open(place, true));
      this.buttons = [...document.querySelectorAll("[data-f]")];
      this.orders = ordersOf(data);
      find("sort").append(...this.orders.map(([value, name]) => Object.assign(element("option", "", shownText(name)), { value })));
      this.wire();
    }
    wire() {
      for (const button of this.buttons) button.addEventListener("click", () => this.change({ f: button.dataset.f }));
      find("q").addEventListener("input", (event) => this.change({ q: event.target.value }));
      find("sort").addEventListener("change", (event) => this.change({ s: event.target.value }));
      find("differ").addEventListener("click", () => this.toggle());
      window.addEventListener("hashchange", () => this.read());
      window.addEventListener("beforeprint", () => this.print());
      listen(find("browser"), {
        list: this.list,
        search: find("q"),
        filter: (n) => {
          const button = this.buttons[n];
          if (button) button.click();
          return Boolean(button);
        },
        order: () => this.change({ s: this.orders[(this.orders.findIndex(([name]) => name === this.state.s) + 1) % this.orders.length][0] }),
        turn: (step) => this.turn(step),
        differ: () => this.toggle(),
        help: () => {
          const help = find("help");
          help.open = !help.open;
          if (help.open) help.querySelector("summary").focus();
        },
        open: () => {
          if (this.list.current >= 0) this.open(this.list.places[this.list.current], true);
        },
        leave: () => this.list.box.focus()
      });
    }
    // state ------------------------------------------------------------------------------------------------------------
    change(part) {
      Object.assign(this.state, part);
      this.show();
      this.remember(false);
    }
    remember(push) {
      const { f, s, q, t } = this.state;
      const told = new URLSearchParams({ f, s });
      if (q) told.set("q", q);
      if (t) told.set("t", t);
      const hash = `#${told}`;
      if (hash === location.hash) return;
      this.written = hash;
      if (push) location.hash = hash;
      else location.replace(hash);
    }
    read() {
      if (location.hash === this.written) return;
      this.written = "";
      const told = new URLSearchParams(location.hash.slice(1));
      if (!["f", "s", "q", "t"].some((name) => told.has(name))) return;
      const next = { f: told.get("f") ?? this.state.f, s: told.get("s") ?? this.state.s, q: told.get("q") ?? "", t: told.get("t") ?? "" };
      if (!this.data.settings.flags.includes(next.f)) next.f = "all";
      if (!this.orders.some(([name]) => name === next.s)) next.s = "loss";
      const same = Object.keys(next).every((name) => next[name] === this.state[name]);
      if (same) return;
      const asked = next.t !== this.state.t;
      if (next.t && !told.has("f")) next.f = "all";
      this.state = next;
      this.show();
      if (!asked) return;
      const place = this.data.columns.ids.findIndex((id) => id === next.t || new URLSearchParams({ t: id }).get("t") === next.t);
      if (place >= 0) this.open(place, false);
      else this.close();
    }
    // showing ----------------------------------------------------------------------------------------------------------
    show(keep = false) {
      const { f, s, q } = this.state;
      this.terms = termsOf(q);
      for (const button of this.buttons) button.setAttribute("aria-pressed", String(button.dataset.f === f));
      if (find("q").value !== q) find("q").value = q;
      find("sort").value = s;
      this.list.set(chosen(this.data, f, this.terms, s), keep);
      const n = this.list.places.length;
      const held = this.data.texts.size ? this.list.places.reduce((sum, place) => sum + this.data.texts.has(place), 0) : 0;
      const texts = !n ? "" : !this.data.settings.texts ? "no texts" : !this.data.texts.size ? "texts loading" : held === n ? "texts of all" : `texts of ${held.toLocaleString("en")}`;
      find("count").textContent = `${n.toLocaleString("en")} ${n === 1 ? "task" : "tasks"}${texts && `, ${texts}`}`;
      if (this.list.opened >= 0) this.draw();
    }
    draw() {
      const how = { pair: this.pair, differ: this.differ, terms: this.terms ?? [] };
      const had = document.activeElement, inside = this.detail.contains(had), label = had?.textContent;
      fill(this.detail, this.data, this.list.opened, how, (step) => this.turn(step));
      if (!inside) return;
      const again = [...this.detail.querySelectorAll("button")].find((button) => button.textContent === label);
      (again ?? this.detail.querySelector("h3")).focus({ preventScroll: true });
    }
    open(place, push) {
      if (place !== this.list.opened) this.pair = 0;
      this.list.opened = place;
      this.state.t = this.data.columns.ids[place];
      const rank = this.list.places.indexOf(place);
      if (rank >= 0) this.list.move(rank);
      this.draw();
      if (push) this.remember(true);
      this.detail.querySelector("h3").focus({ preventScroll: true });
      this.detail.scrollIntoView({ block: "nearest" });
      this.detail.scrollTop = 0;
    }
    close() {
      this.list.opened = -1;
      this.list.draw();
      this.detail.replaceChildren(element("p", "size", "Open a task with Enter or a click."));
    }
    turn(step) {
      if (this.list.opened < 0) return;
      const pairs = pairsOf(this.data.texts.get(this.list.opened));
      this.pair = (this.pair + step + pairs) % pairs;
      this.draw();
    }
    toggle() {
      this.differ = !this.differ;
      find("differ").setAttribute("aria-pressed", String(this.differ));
      if (this.list.opened >= 0) this.draw();
    }
    print() {
      const shown = this.list.places.slice(0, 20).map((place) => element("p", "", `${shownText(this.data.columns.ids[place])}  ${rateText(this.data.columns, place)}`));
      find("print-list").replaceChildren(...shown);
      for (const details of document.querySelectorAll("main details:not(#help):not([open])")) {
        if (details.closest("#static")) continue;
        details.open = true;
        window.addEventListener("afterprint", () => {
          details.open = false;
        }, { once: true });
      }
    }
  };
  async function start() {
    themes();
    if (!find("browser") || typeof DecompressionStream !== "function") return;
    const browser = new Browser(await loaded());
    find("static").hidden = true;
    find("browser").hidden = false;
    browser.close();
    browser.show();
    browser.read();
    document.documentElement.dataset.ready = "numbers";
    await new Promise((then) => setTimeout(then));
    await loadTexts(browser.data);
    browser.show(true);
    document.documentElement.dataset.ready = "all";
  }
  start();
})();
