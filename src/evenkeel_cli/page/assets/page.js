// Draws an interruption: one that is over, whose data is in the page, or one that goes on, of which
// the server tells each time that something changed. Text of the cluster goes in as text, never as
// markup.
const PAGE = 50; // rows that are shown at first
const HURRY = 30; // seconds that are left to a node
const [WIDTH, HEIGHT] = [1000, 100]; // of each drawing, which is stretched to the room there is
const root = document.documentElement;
const place = (id) => document.getElementById(id);
const finished = JSON.parse(place("data").textContent);
const opened = new Set(); // keys of the rows that are open
const shown = new Map(); // how many rows of each table are shown
let screen, word = "";

const maker = (namespace) => (tag, attributes = {}, ...children) => {
  const made = document.createElementNS(namespace, tag);
  for (const [name, value] of Object.entries(attributes)) if (value !== null) made.setAttribute(name, value);
  made.append(...children);
  return made;
};
const make = maker("http://www.w3.org/1999/xhtml");
const svg = maker("http://www.w3.org/2000/svg");

const when = (seconds) => new Date(Date.parse(screen.begins ?? screen.at) + seconds * 1000);
const clock = (seconds) => (seconds === null ? null : when(seconds).toISOString().slice(11, 19));
const counted = (number, one) => `${number.toLocaleString("en")} ${one}${number === 1 ? "" : "s"}`;
const bdi = (text) => make("bdi", {}, text || "–");
const hint = (text) => make("p", { class: "hint" }, make("bdi", {}, text));
const alarm = (text, isBad = true) => (isBad ? make("span", { class: "bad" }, text) : text);
const name = (space, text) => make("bdi", {}, make("span", { class: "space" }, `${space}/`), text);
const searched = (rows) => rows.filter((row) => row.search?.includes(word) ?? true);

// How long something was so. The records may end before it did.
function lasted(seconds, isOpen) {
  if (!seconds) return isOpen ? "not known" : "–";
  const [minutes, rest] = seconds < 120 ? [0, seconds] : [Math.floor(seconds / 60), seconds % 60];
  return `${minutes ? `${minutes} min ` : ""}${Math.round(rest)} s${isOpen ? " or more" : ""}`;
}

// Drawings, all over the whole time line. A path: [class, what it draws].

function drawing(kind, label, paths) {
  const named = label ? { role: "img", "aria-label": label } : { "aria-hidden": "true" };
  const box = { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, preserveAspectRatio: "none" };
  return svg("svg", { class: `drawing ${kind}`, ...box, ...named }, ...paths.map(([its, d]) => svg("path", { class: its, d })));
}

const x = (seconds) => ((WIDTH * Math.max(0, seconds)) / screen.course.lasts).toFixed(1);
const scale = (most) => (number) => (HEIGHT - 1 - ((HEIGHT - 2) * number) / Math.max(1, most)).toFixed(1);
const upright = (seconds) => `M${x(seconds)} 0V${HEIGHT}`;

// Points [at, ...] with the time up to which each holds: [from, to, ...].
const spans = (points, end = screen.course.now) => points.map(([from, ...rest], i) => [from, points[i + 1]?.[0] ?? Math.max(from, end), ...rest]);
const boxes = (all, y) => all.map(([from, to, low, high]) => `M${x(from)} ${y(low)}H${x(to)}V${y(high)}H${x(from)}Z`).join("");

// A stair of [from, to, value], with gaps where the value is null.
function stair(all, y) {
  let drawn = "", before = null;
  for (const [from, to, value] of all) {
    if (value !== null) drawn += `${before === null ? `M${x(from)} ` : "V"}${y(value)}H${x(to)}`;
    before = value;
  }
  return drawn;
}

const deadlinesOf = (nodes) => nodes.filter((each) => ["goes", "gone"].includes(each.fate) && each.deadline !== null)
  .map((each) => upright(each.deadline)).join("");

// Counts of a workload: [at, available, wanted, whether it has fewer on others' part].
const available = (its, wanted, byOthers) => `${its ?? "not known how many"} available of ${wanted} wanted${byOthers ? ", on others' part" : ""}`;
const mostOf = (counts) => Math.max(...counts.flatMap(([, available, wanted]) => [available, wanted]));

function curve(kind, label, counts, deadlines) {
  const all = spans(counts), y = scale(mostOf(counts));
  const known = all.filter(([, , available, wanted]) => available !== null && available < wanted);
  const unknown = all.filter(([, , available]) => available === null);
  return drawing(kind, label, [
    ["missing", boxes(known.filter((each) => !each[4]), y)],
    ["others", boxes(known.filter((each) => each[4]), y)],
    ["unknown", unknown.map(([from, to]) => `M${x(from)} ${HEIGHT / 2}H${x(to)}`).join("")],
    ["deadline", deadlines],
    ["wanted", stair(all.map(([from, to, , wanted]) => [from, to, wanted]), y)],
    ["available", stair(all, y)],
  ]);
}

// Drawings that a person reads values from: their key, their times, and what is at the pointer of the
// readings [from, to, text].
function figure(key, most, readings, ...drawings) {
  const readout = make("p", { class: "readout", "aria-hidden": "true" });
  const plot = make("div", { class: "plot", "data-most": most }, ...drawings);
  const ticks = [0, 1, 2, 3, 4].map((part) => make("span", {}, clock((screen.course.lasts * part) / 4)));
  plot.addEventListener("pointermove", (event) => {
    const box = plot.getBoundingClientRect();
    const seconds = (screen.course.lasts * (event.clientX - box.left)) / box.width;
    const there = readings.filter(([from, to]) => from <= seconds && seconds < to);
    readout.textContent = `${clock(seconds)}  ${there.map(([, , text]) => text).join(", ")}`;
  });
  plot.addEventListener("pointerleave", () => { readout.textContent = ""; });
  const entries = make("ul", { class: "key" }, ...Object.entries(key).map(([kind, title]) => make("li", { class: kind }, title)));
  return make("figure", {}, entries, plot, make("div", { class: "axis" }, ...ticks), readout);
}

function chart({ name: its, counts, lowest, wanted }, nodes) {
  const key = { available: "available", wanted: "wanted", missing: "missing", others: "missing on others' part", unknown: "not known", deadline: "a node's deadline" };
  const readings = spans(counts).map(([from, to, ...count]) => [from, to, available(...count)]);
  const label = `Pods of ${its}: ${lowest} of ${wanted} available at the lowest`;
  return figure(key, mostOf(counts), readings, curve("chart", label, counts, deadlinesOf(nodes)));
}

// What is missing of all workloads, beside a plain eviction, and below it the pods that were moved.
function course({ points, plain, moves, now, lasts }) {
  const missing = (all, end) => spans(all, end).map(([from, to, serving, wanted]) => [from, to, 0, wanted - serving]);
  const most = (all) => Math.max(0, ...all.map((each) => each[3]));
  const [own, beside] = [missing(points, now), missing(plain, lasts)];
  const bars = moves.map(([from, pods, isRestore]) => [from, from + Math.max(1, lasts / 300), 0, pods, isRestore]);
  const y = scale(Math.max(most(own), most(beside))), bar = scale(most(bars));
  const inPlain = plain.length ? `; a plain eviction leaves ${most(beside)} missing at most` : "";
  const told = `${counted(most(own), "pod")} missing at most, where all counts are known${inPlain}; Evenkeel moved ${counted(moves.reduce((sum, each) => sum + each[1], 0), "pod")}`;
  const key = { missing: "pods missing", plain: "the same in a plain eviction", deadline: "a node's deadline", own: "pods that Evenkeel moved", restored: "pods that restore moved" };
  const line = ["now", screen.over ? "" : upright(now)];
  const readings = [[own, "missing"], [beside, "in a plain eviction"]].flatMap(([all, what]) => all.map((each) => [...each.slice(0, 2), `${each[3]} ${what}`]));
  return [figure(key, Math.max(most(own), most(beside)), readings,
    drawing("chart", told, [["plain", boxes(beside, y)], ["missing", boxes(own, y)], ["deadline", deadlinesOf(screen.nodes)], line]),
    drawing("moves", "", [["own", boxes(bars.filter((each) => !each[4]), bar)], ["restored", boxes(bars.filter((each) => each[4]), bar)], line]),
  ), make("p", {}, `${told}.`)];
}

// Tables, whose rows are made when they are shown. A column: [title, what it shows, class].
function table(id, caption, columns, rows, detail = null) {
  const chosen = searched(rows);
  const body = make("tbody"), more = make("button", { type: "button", class: "more" });

  function add(from, until) {
    body.append(...chosen.slice(from, until).flatMap(lines));
    shown.set(id, until);
    more.hidden = until >= chosen.length;
    more.textContent = `Show more: ${until} of ${chosen.length.toLocaleString("en")} are shown`;
  }

  function lines(row) {
    const key = `${id}/${row.key}`;
    const about = () => make("tr", { class: "detail" }, make("td", { colspan: columns.length }, ...detail(row, key)));
    const made = make("tr", {}, ...columns.map(([title, shows, kind = null], i) => {
      const content = shows(row) ?? "–";
      if (i) return make("td", { class: kind, "data-label": title }, content);
      return make("th", { scope: "row", class: kind }, detail ? opener(key, content, about) : content);
    }));
    return opened.has(key) ? [made, about()] : [made];
  }

  more.addEventListener("click", () => add(shown.get(id), shown.get(id) + PAGE));
  add(0, shown.get(id) ?? PAGE);
  const head = columns.map(([title, , kind = null]) => make("th", { scope: "col", class: kind }, title));
  const whole = make("table", {}, make("caption", {}, caption), make("thead", {}, make("tr", {}, ...head)), body);
  return [make("div", { class: "sheet", tabindex: "0", role: "region", "aria-label": caption }, whole), more];
}

// The button that opens a row: what is about it stands below.
function opener(key, content, about) {
  const made = make("button", { type: "button", class: "opener", "data-key": key, "aria-expanded": String(opened.has(key)) }, content);
  made.addEventListener("click", () => {
    const row = made.closest("tr");
    if (opened.delete(key)) row.nextElementSibling.remove();
    else row.after(opened.add(key) && about());
    made.setAttribute("aria-expanded", String(opened.has(key)));
  });
  return made;
}

const late = ["Late", (each) => alarm(String(each.late), each.late > 0), "number"];
const decided = ["Pods", (each) => each.pods, "number"];
const left = ["Pods left", (each) => each.left, "number"];
const workload = ["Workload", (each) => name(each.subject.namespace, each.name)];
const change = ["Why, and what to change", (each) => (each.why ? make("div", {}, bdi(each.why), make("p", { class: "change" }, bdi(each.change || "nothing is known that would prevent it"))) : null), "words"];

// What happened when: [seconds, text, whether it is bad].
function list(entries) {
  return make("ul", { class: "said" }, ...entries.map(([seconds, text, isBad]) =>
    make("li", { class: isBad ? "bad" : null }, make("time", {}, clock(seconds)), bdi(text))));
}

const steps = (each) => [list(each.steps.map(([seconds, verb, reason, message]) => [seconds, `${verb} ${reason}: ${message}`]))];
const pods = (id, caption, rows) => table(id, caption, [
  ["Pod", (each) => name(each.subject.namespace, each.subject.name)],
  ["Node", (each) => bdi(each.node), "name"],
  ["How it went", (each) => each.way],
  ["Asked for", (each) => clock(each.released), "time"],
  ["Went", (each) => clock(each.went), "time"],
  ["Late", (each) => alarm(each.late ? "late" : "no", each.late)],
  ["Why", (each) => bdi(each.why), "words"],
], rows, steps);

function aboutWorkload(each, key) {
  const its = screen.pods.filter((pod) => pod.workload === each.key);
  const on = new Set(its.map((pod) => pod.node));
  const told = `None for ${lasted(each.atZero, each.endsAtZero)}; most beside those wanted, old and new: ${each.mostBeside ?? "–"}; floor on on-demand nodes: ${each.floor ?? "–"}.`;
  const drawn = each.counts.length ? chart(each, screen.nodes.filter((node) => on.has(node.name))) : hint("How many of its pods were available is not known.");
  const counts = list(each.counts.map(([seconds, ...count]) => [seconds, available(...count)]));
  return [hint(told), drawn, ...pods(`${key}/pods`, `Pods of ${each.name}`, its), counts];
}

// Sections: [id, title, what is shown, how]. One with nothing to show is not there.

const workloads = ["workloads", "Workloads", () => [screen.workloads, screen.pods, screen.course], () => table("workloads", "Workloads, the worst first", [
  workload,
  ["OK", (each) => each.ok && alarm(each.ok, each.ok === "failed")],
  ["Over time", (each) => (each.counts.length ? curve("spark", "", each.counts, "") : null)],
  ["Ready", (each) => (each.ready === null ? null : alarm(`${each.ready} of ${each.wanted}`, each.ready < each.wanted)), "number"],
  ["Lowest", (each) => alarm(String(each.lowest ?? "–"), each.below > 0 || each.endsBelow), "number"],
  ["Plain eviction", (each) => each.plain, "number"],
  ["Too few for", (each) => lasted(each.below, each.endsBelow), "number"],
  late, change,
], screen.workloads, aboutWorkload)];
const timeLine = ["course", "Time line", () => [screen.course?.points, screen.course, screen.nodes], () => course(screen.course)];
const others = [
  ["late", "Late pods", () => [screen.late], () => table("late", "Late pods by reason", [
    ["Pods", (each) => alarm(String(each.pods))], ["Of", (each) => bdi(each.workloads.join(", ")), "words"], change,
  ], screen.late)],
  ["nodes", "Nodes", () => [screen.pools, screen.nodes, screen.pods], () => [
    ...table("pools", "Nodes by pool", [
      ["Pool", (each) => bdi(each.name)],
      ["Nodes", (each) => each.nodes, "number"],
      ["Going", (each) => each.going, "number"],
      ["Left to each, and its pods", (each) => bdi(each.ends.join(", ")), "words"],
      decided, left, late,
    ], screen.pools),
    ...table("nodes", "Nodes with a notice", [
      ["Node", (each) => bdi(each.name)],
      ["Pool", (each) => bdi(each.pool)],
      ["Notice", (each) => bdi(each.kind)],
      ["Noticed", (each) => clock(each.noticed), "time"],
      ["Deadline", (each) => clock(each.deadline), "time"],
      ["Left", (each) => alarm(each.inWords, each.left > 0 && each.fate === "goes" && each.seconds < HURRY), "time"],
      decided, left, late,
    ], screen.nodes, (each, key) => [...steps(each), ...pods(`${key}/pods`, `Pods on ${each.name}`, screen.pods.filter((pod) => pod.node === each.name))]),
  ]],
  ["minutes", "Minutes", () => [screen.course?.minutes], () => table("minutes", "Minute by minute", [
    ["From", (each) => clock(each.at), "time"],
    ["Nodes noticed", (each) => each.noticed, "number"],
    ["Deadlines", (each) => each.deadlines, "number"],
    ["Replacements asked for", (each) => each.released, "number"],
    ["Pods gone", (each) => each.went, "number"],
    late,
    ["Workloads with too few", (each) => alarm(String(each.below), each.below > 0), "number"],
  ], screen.course.minutes)],
  ["floors", "Floors", () => [screen.floors], () => table("floors", "Floors", [
    workload,
    ["Floor", (each) => each.floor, "number"],
    ["Ready on on-demand nodes", (each) => alarm(String(each.survivors), each.survivors < each.floor), "number"],
  ], screen.floors)],
  ["pods", "Pods", () => [screen.pods], () => pods("pods", "Pods", screen.pods)],
  ["money", "Money", () => [screen.money?.rows, screen.money], () => [
    hint(screen.money.note),
    ...table("money", "Money", screen.money.columns.map((title, i) => [title, (row) => row[i], i ? "number" : null]), screen.money.rows),
  ]],
  ["decisions", "Decisions", () => [screen.decisions], () => [list(screen.decisions.map((each) => [each.at, each.text, each.warning]))]],
  ["notes", "Notes in the log", () => [screen.notes], () => [list(screen.notes)]],
];

const sections = [...(finished ? [workloads, timeLine] : [timeLine, workloads]), ...others].map(([id, title, shows, parts]) => ({
  shows, parts, before: "",
  heading: make("h2", { id: `${id}-title` }, title),
  box: make("section", { id, "aria-labelledby": `${id}-title` }),
  link: make("li", {}, make("a", { href: `#${id}` }, title)),
}));
place("content").append(...sections.map((each) => each.box));
place("sections").append(...sections.map((each) => each.link));

// What did not change stays as it is, with its focus and what is selected in it.
function paint(isAnew = false) {
  const focused = document.activeElement.dataset.key;
  for (const each of sections) {
    const value = each.shows(), text = JSON.stringify(value);
    if (text === each.before && !isAnew) continue;
    each.before = text;
    each.box.hidden = each.link.hidden = !value[0]?.length;
    each.box.replaceChildren(each.heading, ...(each.box.hidden ? [] : each.parts()));
  }
  if (focused) document.querySelector(`[data-key="${CSS.escape(focused)}"]`)?.focus({ preventScroll: true });
}

function show(its) {
  screen = its;
  const key = (rows, of, ...more) => rows.forEach((each) => Object.assign(each, { key: of(each), search: [of(each), ...more.map((field) => each[field])].join(" ").toLowerCase() }));
  key(screen.workloads, (each) => `${each.subject.namespace}/${each.name}`);
  key(screen.nodes, (each) => each.name, "pool");
  key(screen.pods, (each) => `${each.subject.namespace}/${each.subject.name}`, "workload", "node");
  place("when").textContent = `${screen.source}, ${screen.at.slice(0, 10)}, ${screen.begins ? `${clock(0)} to ` : ""}${screen.at.slice(11, 19)} UTC`;
  place("headline").textContent = screen.headline;
  place("facts").replaceChildren(...[...screen.figures, ...screen.facts].map((each) =>
    make("div", {}, make("dt", {}, each.name), make("dd", { class: each.bad ? "bad" : null }, bdi(each.text)))));
  place("sentences").replaceChildren(...screen.sentences.map((each) => make("p", {}, bdi(each))));
  paint();
  root.dataset.ready = Math.round(performance.now());
}

const search = place("search");
function choose(text) {
  search.value = text;
  word = text.trim().toLowerCase();
  paint(true);
  const numbers = ["workload", "node", "pod"].map((each) => counted(searched(screen[`${each}s`]).length, each));
  place("found").textContent = word ? numbers.join(", ") : "";
}
search.addEventListener("input", () => choose(search.value));
document.addEventListener("keydown", (event) => {
  const isTyping = event.target === search;
  if (isTyping && event.key === "Escape") choose("");
  else if (isTyping && event.key === "Enter") place("workloads").scrollIntoView();
  else if (!isTyping && event.key === "/" && !event.ctrlKey && !event.metaKey) {
    event.preventDefault();
    search.focus();
  }
});
place("theme").addEventListener("click", () => {
  const themes = ["system", "light", "dark"];
  root.dataset.theme = themes[(themes.indexOf(root.dataset.theme ?? "system") + 1) % themes.length];
  place("theme").textContent = `Theme: ${root.dataset.theme}`;
});

if (finished) {
  show(finished);
} else {
  const say = (text) => { place("state").textContent = text; };
  const events = new EventSource("events");
  say("Waiting for the first look.");
  events.addEventListener("screen", (event) => { say(""); show(JSON.parse(event.data)); });
  events.addEventListener("over", () => { say("Nothing more comes: this is the end."); events.close(); });
  events.addEventListener("error", () => say("The command that serves this page does not answer: it is tried again."));
}
