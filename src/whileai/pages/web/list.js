// The list of tasks: only the rows in view exist, so that a hundred thousand cost what twenty do.
import { rateText } from "./store.js";
import { shownText } from "./view.js";

export const ROW = 28;

/** A list of places in a box that scrolls; one of them is current. */
export class TaskList {
  /** @param {HTMLElement} box @param {HTMLElement} rows @param {object} data @param {(place: number) => void} open */
  constructor(box, rows, data, open) {
    Object.assign(this, { box, rows, data, open, places: [], current: -1, opened: -1 });
    box.addEventListener("scroll", () => this.draw(), { passive: true });
    box.addEventListener("click", (event) => {
      const row = event.target.closest("[role=option]");
      if (row) { this.move(Number(row.dataset.rank)); this.open(this.places[this.current]); }
    });
    if (typeof ResizeObserver === "function") new ResizeObserver(() => this.draw()).observe(box);
  }

  /** Show these places from the top, or where `keep` is set with the current task where it was. */
  set(places, keep) {
    const was = keep ? this.places[this.current] : undefined;
    if (!keep) this.box.scrollTop = 0;
    this.places = places;
    this.rows.style.height = `${places.length * ROW}px`;
    const rank = was === undefined ? -1 : places.indexOf(was);
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
  get page() { return Math.max(1, Math.floor(this.box.clientHeight / ROW) - 1); }

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
    const mark = !two ? "" : value > 0 ? "\u25c6 " : value < 0 ? "\u25bc " : "\u25a0 ";
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
}
