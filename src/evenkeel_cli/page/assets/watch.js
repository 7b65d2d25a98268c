"use strict";
// Shows what the server tells, each time that it tells something. Text goes in as text.
(() => {
  const { make, svg, counted, alarm, ifAny, sheet } = components;
  const [WIDTH, HEIGHT, MOVES] = [1000, 160, 40];
  const HURRY = 30;
  const place = (id) => document.getElementById(id);
  const bdi = (text) => make("bdi", {}, text);
  const shown = new Map();

  // Calls paint where that is another value than the one before: what did not change stays as it
  // is, with its focus and what is selected in it.
  function ifNew(name, value, paint) {
    const text = JSON.stringify(value);
    if (shown.get(name) === text) return;
    shown.set(name, text);
    paint(value);
  }

  const isGoing = (each) => each.fate === "goes" || each.fate === "may go";

  function node(each) {
    const pods = each.pods ? `, ${counted(each.pods, "pod")} left` : "";
    if (each.fate === "gone") return make("li", { class: "gone" }, bdi(each.name));
    const goes = each.fate === "goes";
    const left = !goes ? each.fate : each.seconds === null ? "" : each.seconds > 0 ? `${each.seconds} s` : "over";
    const hurries = goes && each.pods > 0 && each.seconds !== null && each.seconds < HURRY;
    return make("li", { class: hurries ? "hurry" : null }, bdi(each.name), ` ${left}${pods}`);
  }

  const pools = sheet("Nodes by pool", [
    ["Pool", (each) => bdi(each.name)],
    ["Nodes", (each) => String(each.nodes), "number"],
    ["Going", (each) => String(each.going.filter(isGoing).length), "number"],
    ["Pods left", (each) => String(each.left), "number"],
    ["Left to each", (each) => (each.going.length ? make("ul", { class: "nodes" }, ...each.going.map(node)) : "–"), "words"],
  ], []);
  const name = (each) => make("bdi", {}, make("span", { class: "space" }, `${each.namespace}/`), each.name);
  const workloads = sheet("Workloads, the worst first", [
    ["Workload", name],
    ["OK", (each) => (each.ok === "failed" ? alarm(each.ok) : each.ok ?? "–")],
    ["Ready", (each) => (each.low ? alarm(String(each.ready)) : String(each.ready ?? "–")), "number"],
    ["Wanted", (each) => String(each.wanted ?? "–"), "number"],
    ["Lowest", (each) => String(each.lowest ?? "–"), "number"],
    ["In a plain eviction", (each) => String(each.plain ?? "–"), "number"],
    ["Late", (each) => ifAny(each.late), "number"],
    ["Why", (each) => bdi(each.why || "–"), "words"],
    ["What to do", (each) => bdi(each.change || "–"), "words"],
  ], []);
  const floors = sheet("Floors", [
    ["Workload", name],
    ["Floor", (each) => String(each.floor), "number"],
    ["Ready on on-demand nodes", (each) => (each.stands ? String(each.survivors) : alarm(String(each.survivors))), "number"],
  ], []);
  const said = make("ul", { class: "said" });
  const course = make("div");

  // A stair of what is missing, from the points [seconds, serving, wanted] up to a time.
  function stair(points, until, x, y) {
    const steps = points.map(([at, serving, wanted], i) => {
      const end = i + 1 < points.length ? points[i + 1][0] : until;
      return `V${y(wanted - serving)}H${x(end)}`;
    });
    return `M${x(points[0][0])} ${y(0)}${steps.join("")}V${y(0)}Z`;
  }

  function drawCourse(its) {
    if (!its || !its.points.length) {
      course.replaceChildren(make("p", { class: "hint" }, "No pod is counted yet."));
      return;
    }
    const missing = (points) => Math.max(0, ...points.map(([, serving, wanted]) => wanted - serving));
    const most = Math.max(1, missing(its.points), missing(its.plain));
    const x = (at) => ((WIDTH * Math.max(0, at)) / its.lasts).toFixed(1);
    const y = (number) => (HEIGHT - (HEIGHT * number) / most).toFixed(1);
    const its_moves = its.moves.reduce((sum, [, pods]) => sum + pods, 0);
    const beside = its.plain.length ? `; a plain eviction leaves ${missing(its.plain)} missing at most` : "";
    const label = `${counted(missing(its.points), "pod")} missing at most${beside}; Evenkeel moved ${counted(its_moves, "pod")}`;
    const made = svg("svg", { class: "course", viewBox: `0 0 ${WIDTH} ${HEIGHT + MOVES + 10}`, preserveAspectRatio: "none", role: "img", "aria-label": label });
    if (its.plain.length) made.append(svg("path", { class: "plain", d: stair(its.plain, its.lasts, x, y) }));
    made.append(svg("path", { class: "missing", d: stair(its.points, its.now, x, y) }));
    made.append(svg("line", { class: "base", x1: 0, x2: WIDTH, y1: HEIGHT, y2: HEIGHT }));
    const highest = Math.max(1, ...its.moves.map(([, pods]) => pods));
    for (const [at, pods, restoring] of its.moves) {
      const height = Math.max(4, (MOVES * pods) / highest);
      made.append(svg("rect", { class: restoring ? "restored" : "own", x: x(at), width: Math.max(3, WIDTH / its.lasts), y: HEIGHT + 8, height }));
    }
    made.append(svg("line", { class: "now", x1: x(its.now), x2: x(its.now), y1: 0, y2: HEIGHT + MOVES + 10 }));
    const keys = [
      ["pods missing", "--alarm"],
      ...(its.plain.length ? [["pods missing in a plain eviction", "--wanted"]] : []),
      ["pods that Evenkeel moved", "--own"],
      ...(its.moves.some(([, , restoring]) => restoring) ? [["pods that restore moved", "--restored"]] : []),
    ].map(([title, tint]) => {
      const sample = svg("svg", { viewBox: "0 0 26 11", "aria-hidden": "true" });
      sample.append(svg("path", { d: "M0 5.5H26", stroke: `var(${tint})`, "stroke-width": 9 }));
      return make("li", {}, sample, title);
    });
    const clock = (at) => new Date(Date.parse(its.begins) + at * 1000).toISOString().slice(11, 19);
    course.replaceChildren(
      make("ul", { class: "key" }, ...keys), made,
      make("p", { class: "axis" }, make("span", {}, clock(0)), make("span", {}, clock(its.lasts))),
      make("p", {}, `${label}.`),
    );
  }

  function section(id, title, ...parts) {
    place("sections").append(make("li", {}, make("a", { href: `#${id}` }, title)));
    const made = make("section", { id, "aria-labelledby": `${id}-title` }, make("h2", { id: `${id}-title` }, title), ...parts);
    place("content").append(made);
  }
  const others = make("p", { class: "hint" });
  section("course", "Time line", course);
  section("workloads", "Workloads", ...workloads.parts);
  section("nodes", "Nodes", ...pools.parts, others);
  section("floors", "Floors", ...floors.parts);
  section("decisions", "Last decisions", said);
  components.chooseThemes(() => {});

  function show(screen) {
    place("source").textContent = screen.source;
    place("at").textContent = screen.at;
    ifNew("headline", screen.headline, (text) => { place("headline").textContent = text; });
    ifNew("facts", screen.facts, (facts) => place("facts").replaceChildren(...facts.map((each) =>
      make("div", {}, make("dt", {}, each.name), make("dd", { class: each.bad ? "bad" : null }, bdi(each.text))))));
    ifNew("pools", screen.pools, (rows) => {
      const going = rows.filter((each) => each.going.length);
      const calm = rows.filter((each) => !each.going.length);
      const nodes = calm.reduce((sum, each) => sum + each.nodes, 0);
      pools.update(going.length ? going : calm);
      others.textContent = going.length && calm.length ? `And ${counted(nodes, "node")} in ${counted(calm.length, "other pool")}.` : "";
    });
    ifNew("workloads", screen.workloads, (rows) => workloads.update(rows));
    ifNew("course", screen.course, drawCourse);
    ifNew("floors", screen.floors, (rows) => floors.update(rows));
    ifNew("decisions", screen.decisions, (all) => said.replaceChildren(...all.map((each) =>
      make("li", { class: each.warning ? "bad" : null }, make("time", {}, each.at), bdi(each.text)))));
    ifNew("colophon", screen.version, (version) => { place("colophon").textContent = `Evenkeel ${version}. Times are UTC. This page asks nobody but the command that serves it.`; });
    document.documentElement.dataset.ready = "yes";
  }

  const events = new EventSource("events");
  events.addEventListener("screen", (event) => { place("state").textContent = ""; show(JSON.parse(event.data)); });
  events.addEventListener("over", () => { place("state").textContent = "Nothing more comes: this is the end."; events.close(); });
  events.addEventListener("error", () => { place("state").textContent = "The command that serves this page does not answer: it is tried again."; });
})();
