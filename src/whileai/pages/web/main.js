// Puts the parts together: the state stands in the address behind the #, so that a link points at a task.
import { loaded, loadTexts, rateText } from "./store.js";
import { chosen, ordersOf, termsOf } from "./filter.js";
import { TaskList } from "./list.js";
import { element, fill, pairsOf, shownText } from "./view.js";
import { listen } from "./keys.js";

const find = (id) => document.getElementById(id);

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

class Browser {
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
      filter: (n) => { const button = this.buttons[n]; if (button) button.click(); return Boolean(button); },
      order: () => this.change({ s: this.orders[(this.orders.findIndex(([name]) => name === this.state.s) + 1) % this.orders.length][0] }),
      turn: (step) => this.turn(step),
      differ: () => this.toggle(),
      help: () => { const help = find("help"); help.open = !help.open; if (help.open) help.querySelector("summary").focus(); },
      open: () => { if (this.list.current >= 0) this.open(this.list.places[this.list.current], true); },
      leave: () => this.list.box.focus(),
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
    if (!inside) return; // what had the focus is gone: its successor takes it, or the focus would fall out of the browser
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
      window.addEventListener("afterprint", () => { details.open = false; }, { once: true });
    }
  }
}

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
