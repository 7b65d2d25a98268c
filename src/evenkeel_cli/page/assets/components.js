"use strict";
// What the pages are made of: elements, tables, themes. Text of the cluster goes in as text, never
// as markup.
const components = (() => {
  const SVG = "http://www.w3.org/2000/svg";
  const PAGE = 50;
  const root = document.documentElement;

  function make(tag, attributes = {}, ...children) {
    const made = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) {
      if (value !== null && value !== false) made.setAttribute(name, value === true ? "" : value);
    }
    made.append(...children.filter((each) => each !== null));
    return made;
  }

  function svg(tag, attributes) {
    const made = document.createElementNS(SVG, tag);
    for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
    return made;
  }

  function counted(number, one, many = `${one}s`) {
    return `${number.toLocaleString("en")} ${number === 1 ? one : many}`;
  }

  const alarm = (text) => make("span", { class: "bad" }, text);
  const ifAny = (number) => (number ? alarm(String(number)) : "0");

  function drawIn(where) {
    for (const box of where.querySelectorAll("[role=img]")) if (box.draw) box.draw();
  }

  // A table of which rows are made when they are shown. A column: [title, what it shows, class].
  const sheets = [];

  function sheet(caption, columns, rows, { detail = null, isSearched = true } = {}) {
    const body = make("tbody");
    const more = make("button", { type: "button", class: "more" });
    const head = make("thead", {}, make("tr", {}, ...columns.map(([title, , kind]) =>
      make("th", { scope: "col", class: kind || null }, title))));
    const table = make("table", {}, make("caption", {}, caption), head, body);
    const box = make("div", {
      class: "sheet", tabindex: "0", role: "region", "aria-label": caption,
    }, table);
    let chosen = rows, shown = 0;

    function add(until) {
      for (const row of chosen.slice(shown, until)) body.append(line(row));
      shown = Math.min(until, chosen.length);
      more.hidden = shown >= chosen.length;
      more.textContent = `Show more: ${shown} of ${chosen.length.toLocaleString("en")} are shown`;
    }

    function line(row) {
      const made = make("tr");
      columns.forEach(([title, shows, kind], place) => {
        const content = shows(row);
        if (place > 0) {
          made.append(make("td", { class: kind || null, "data-label": title }, content));
        } else if (detail === null) {
          made.append(make("th", { scope: "row", class: kind || null }, content));
        } else {
          const opener = make("button", { type: "button", class: "opener", "aria-expanded": "false" }, content);
          opener.addEventListener("click", () => toggle(made, opener, row));
          made.append(make("th", { scope: "row" }, opener));
        }
      });
      made.row = row;
      return made;
    }

    function toggle(made, opener, row) {
      const isOpen = opener.getAttribute("aria-expanded") === "true";
      opener.setAttribute("aria-expanded", String(!isOpen));
      if (isOpen) {
        made.nextElementSibling.remove();
        return;
      }
      const cell = make("td", { colspan: String(columns.length) });
      made.after(make("tr", { class: "detail" }, cell));
      cell.append(...detail(row));
      drawIn(cell);
    }

    function choose(word) {
      chosen = word ? rows.filter((row) => row.search.includes(word)) : rows;
      body.replaceChildren();
      shown = 0;
      add(PAGE);
      return chosen.length;
    }

    function open(row) {
      choose("");
      const place = rows.indexOf(row);
      if (place >= shown) add(place + 1);
      const opener = body.querySelectorAll(":scope > tr:not(.detail) .opener")[place];
      if (opener.getAttribute("aria-expanded") === "false") opener.click();
      opener.focus();
      opener.scrollIntoView({ block: "start" });
    }

    // Other rows take the places of these.
    function update(others) {
      const before = shown;
      rows = others;
      choose("");
      if (before > shown) add(before);
    }

    more.addEventListener("click", () => add(shown + PAGE));
    add(PAGE);
    const made = { parts: [box, more], choose, open, update, caption };
    if (isSearched) sheets.push(made);
    return made;
  }

  // The button that changes between themes; repaint is called after a change.
  function chooseThemes(repaint) {
    const themes = ["system", "light", "dark"];
    const button = document.getElementById("theme");
    button.addEventListener("click", () => {
      const next = themes[(themes.indexOf(root.dataset.theme || "system") + 1) % themes.length];
      if (next === "system") delete root.dataset.theme;
      else root.dataset.theme = next;
      button.textContent = `Theme: ${next}`;
      repaint();
    });
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", repaint);
  }

  return { make, svg, counted, alarm, ifAny, sheet, sheets, drawIn, chooseThemes };
})();
