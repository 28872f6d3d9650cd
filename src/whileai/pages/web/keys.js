// Keys of the browser. They live only while the focus is inside it and not in a field.

/**
 * @param {HTMLElement} browser
 * @param {{list: object, search: HTMLElement, filter: (n: number) => void, order: () => void, turn: (n: number) => void,
 *   differ: () => void, help: () => void, open: () => void, leave: () => void}} act
 */
export function listen(browser, act) {
  browser.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const target = event.target, field = target.matches("input, select, textarea");
    if (field) {
      if (event.key === "Escape") { event.preventDefault(); act.list.box.focus(); }
      if (target === act.search && (event.key === "ArrowDown" || event.key === "Enter")) { event.preventDefault(); act.list.box.focus(); }
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
