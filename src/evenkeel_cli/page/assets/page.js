"use strict";
// Shows the data of the page. Text of the cluster goes in as text, never as markup.
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const root = document.documentElement;
  const { make, svg, counted, alarm, ifAny, sheet, sheets, drawIn } = components;

  function clock(seconds) {
    return new Date((data.begins + seconds) * 1000).toISOString().slice(11, 19);
  }

  function lasted(seconds) {
    if (seconds < 120) return `${Math.round(seconds)} s`;
    return `${Math.floor(seconds / 60)} min ${Math.round(seconds % 60)} s`;
  }

  // How long a workload had too few pods. The records may end before that did.
  function lastedAtLeast(workload) {
    if (!workload.endsBelow) return lasted(workload.below);
    return workload.below ? `${lasted(workload.below)} or more` : "not known";
  }

  const at = (seconds) => (seconds === null ? "–" : clock(seconds));

  // Charts

  const charts = new Set();
  const color = (name) => getComputedStyle(root).getPropertyValue(name).trim();

  // The counts as stairs: [times, available, wanted, on others' part], up to the end. What is
  // available is null where it is not known.
  function stairs(counts) {
    const ended = counts.concat([[Math.max(data.lasts, counts.at(-1)[0] + 1), ...counts.at(-1).slice(1)]]);
    return [0, 1, 2, 3].map((place) => ended.map((each) => each[place]));
  }

  function spark(counts) {
    if (!counts.length) return "–";
    const [times, available, wanted, others] = stairs(counts);
    const most = Math.max(1, ...available, ...wanted);
    const x = (time) => (144 * time) / times.at(-1);
    const y = (value) => 23 - (22 * value) / most;
    const path = (values) => values.map((value, i) => {
      const before = i ? values[i - 1] : null;
      const across = before === null ? "" : `H${x(times[i]).toFixed(1)}`;
      if (value === null) return across;
      return before === null ? `M${x(times[i]).toFixed(1)} ${y(value).toFixed(1)}` : `${across}V${y(value).toFixed(1)}`;
    }).join("");
    const made = svg("svg", { class: "spark", viewBox: "0 0 144 24", preserveAspectRatio: "none", "aria-hidden": "true" });
    available.forEach((value, i) => {
      if (i + 1 === times.length || (value !== null && value >= wanted[i])) return;
      const width = Math.max(1, x(times[i + 1]) - x(times[i]));
      made.append(value === null
        ? svg("rect", { class: "unknown", x: x(times[i]), y: 1, width, height: 22, fill: "url(#hatch)" })
        : svg("rect", {
          class: others[i] ? "others" : "missing",
          x: x(times[i]), y: y(wanted[i]), width, height: y(value) - y(wanted[i]),
        }));
    });
    made.append(svg("path", { class: "wanted", d: path(wanted) }), svg("path", { class: "available", d: path(available) }));
    return made;
  }

  function keys(counts) {
    const entries = [
      ["available", "--ink", "", 2],
      ["wanted", "--wanted", "3 3", 2],
      ["missing", "--alarm", "", 9],
      ...(counts.some((each) => each[3]) ? [["missing on others' part", "--wanted", "", 9]] : []),
      ...(counts.some((each) => each[1] === null) ? [["not known", "--soft", "1 3", 9]] : []),
      ["a node's deadline", "--soft", "1 3", 2],
    ];
    return make("ul", { class: "key" }, ...entries.map(([name, tint, dash, width]) => {
      const sample = svg("svg", { viewBox: "0 0 26 11", "aria-hidden": "true" });
      sample.append(svg("path", {
        d: "M0 5.5H26", stroke: `var(${tint})`, "stroke-width": width,
        "stroke-dasharray": dash, "stroke-opacity": width > 2 ? "0.45" : "1",
      }));
      return make("li", {}, sample, name);
    }));
  }

  // Slanted lines over a time of which nothing is known.
  function hatch(u, from, to) {
    const step = 8 * devicePixelRatio, { top, height } = u.bbox;
    u.ctx.save();
    u.ctx.beginPath();
    u.ctx.rect(from, top, Math.max(1, to - from), height);
    u.ctx.clip();
    u.ctx.strokeStyle = color("--soft");
    u.ctx.globalAlpha = 0.5;
    u.ctx.beginPath();
    for (let x = from - height; x < to; x += step) {
      u.ctx.moveTo(x, top + height);
      u.ctx.lineTo(x + height, top);
    }
    u.ctx.stroke();
    u.ctx.restore();
  }

  function chart(counts, label, deadlines) {
    const box = make("div", { role: "img", "aria-label": label });
    const readout = make("p", { class: "readout", "aria-hidden": "true" });
    const [times, available, wanted, others] = stairs(counts);
    const missing = available.map((value, i) => (value === null || others[i] ? wanted[i] : Math.min(value, wanted[i])));
    const values = [times, wanted, missing, available];
    box.draw = () => {
      const stepped = uPlot.paths.stepped({ align: 1 });
      const axis = { stroke: () => color("--soft"), grid: { stroke: () => color("--line"), width: 1 }, ticks: { show: false }, font: "12px system-ui, sans-serif" };
      const drawn = new uPlot({
        width: Math.max(200, box.clientWidth), height: 200, legend: { show: false },
        cursor: { y: false, drag: { x: false, y: false }, points: { show: false } },
        scales: { x: { time: false }, y: { range: (_, low, high) => [0, Math.max(1, high) * 1.05] } },
        axes: [
          { ...axis, values: (_, splits) => splits.map(clock), grid: { show: false }, space: 80 },
          { ...axis, size: 44, incrs: [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000] },
        ],
        series: [
          {},
          { paths: stepped, points: { show: false }, stroke: () => color("--wanted"), dash: [4, 4], width: 1.5 },
          { paths: stepped, points: { show: false }, width: 0 },
          { paths: stepped, points: { show: false }, stroke: () => color("--ink"), width: 1.75 },
        ],
        bands: [{ series: [1, 2], fill: () => color("--alarm-fill") }],
        hooks: {
          draw: [(u) => {
            u.ctx.save();
            u.ctx.beginPath();
            u.ctx.rect(u.bbox.left, u.bbox.top, u.bbox.width, u.bbox.height);
            u.ctx.clip();
            available.forEach((value, i) => {
              if (i + 1 === times.length || (value !== null && !(others[i] && value < wanted[i]))) return;
              const [from, to] = [times[i], times[i + 1]].map((time) => u.valToPos(time, "x", true));
              if (value === null) hatch(u, from, to);
              else {
                const [top, bottom] = [wanted[i], value].map((each) => u.valToPos(each, "y", true));
                u.ctx.globalAlpha = 0.3;
                u.ctx.fillStyle = color("--wanted");
                u.ctx.fillRect(from, top, to - from, bottom - top);
                u.ctx.globalAlpha = 1;
              }
            });
            u.ctx.restore();
            u.ctx.save();
            u.ctx.strokeStyle = color("--soft");
            u.ctx.setLineDash([2 * devicePixelRatio, 5 * devicePixelRatio]);
            u.ctx.beginPath();
            for (const time of deadlines) {
              const x = u.valToPos(time, "x", true);
              u.ctx.moveTo(x, u.bbox.top);
              u.ctx.lineTo(x, u.bbox.top + u.bbox.height);
            }
            u.ctx.stroke();
            u.ctx.restore();
          }],
          setCursor: [(u) => {
            const i = u.cursor.idx;
            readout.textContent = i === null || i === undefined ? "" : `${clock(times[i])}  ${available[i] ?? "not known how many"} available of ${wanted[i]} wanted${others[i] ? ", on others' part" : ""}`;
          }],
        },
      }, values, box);
      const entry = { box, drawn };
      charts.add(entry);
      new ResizeObserver(() => drawn.setSize({ width: Math.max(200, box.clientWidth), height: 200 })).observe(box.parentElement);
      box.draw = null;
    };
    return make("div", { class: "chart" }, keys(counts), box, readout);
  }

  function repaint() {
    for (const each of charts) {
      if (each.box.isConnected) each.drawn.redraw(false, true);
      else charts.delete(each);
    }
  }

  // Parts

  function name(each) {
    const place = each.namespace ? make("span", { class: "space" }, `${each.namespace}/`) : null;
    return make("bdi", {}, ...[place, each.name].filter((part) => part !== null));
  }

  for (const each of data.workloads) each.search = `${each.namespace}/${each.name}`.toLowerCase();
  for (const each of data.nodes) each.search = `${each.name} ${each.pool}`.toLowerCase();
  for (const each of data.pods) {
    const workload = data.workloads[each.workload];
    each.search = `${each.namespace}/${each.name} ${workload ? workload.name : ""} ${each.node}`.toLowerCase();
  }

  const steps = (each) => sheet(`What was decided about ${each.name}`, [
    ["Time", (step) => clock(step[0]), "time"],
    ["Decision", (step) => step[1]],
    ["Reason", (step) => step[2]],
    ["In words", (step) => make("bdi", {}, step[3]), "words"],
  ], each.steps, { isSearched: false }).parts;

  const podColumns = [
    ["Pod", name],
    ["Node", (pod) => pod.node || "–"],
    ["How it went", (pod) => pod.way],
    ["Asked for", (pod) => at(pod.released), "time"],
    ["Went", (pod) => at(pod.went), "time"],
    ["Late", (pod) => (pod.late ? alarm("late") : "no")],
    ["Why", (pod) => make("bdi", {}, pod.why), "words"],
  ];
  const podsOf = (caption, pods) => sheet(caption, podColumns, pods, { detail: steps, isSearched: false }).parts;

  function aboutWorkload(each) {
    const pods = data.pods.filter((pod) => data.workloads[pod.workload] === each);
    const nodes = new Set(pods.map((pod) => pod.node));
    const deadlines = data.nodes.filter((node) => nodes.has(node.name) && node.dies && node.deadline !== null).map((node) => node.deadline);
    const drawn = each.counts.length
      ? [chart(each.counts, `Pods of ${each.name}: ${each.lowest} of ${each.wanted} available at the lowest`, deadlines),
        make("details", {}, make("summary", {}, "These counts as a table"), ...sheet(`Counts of ${each.name}`, [
          ["Time", (count) => clock(count[0]), "time"],
          ["Available", (count) => String(count[1] ?? "not known"), "number"],
          ["Wanted", (count) => String(count[2]), "number"],
        ], each.counts, { isSearched: false }).parts)]
      : [make("p", { class: "hint" }, "How many of its pods were available is not in the log.")];
    return [...drawn, ...podsOf(`Pods of ${each.name}`, pods)];
  }

  const sections = [];

  function section(id, title, hint, ...parts) {
    const made = make("section", { id, "aria-labelledby": `${id}-title` },
      make("h2", { id: `${id}-title` }, title), hint ? make("p", { class: "hint" }, hint) : null, ...parts);
    sections.push([id, title]);
    return made;
  }

  const workloads = sheet("Workloads of which pods had to move", [
    ["Workload", name],
    ["OK", (each) => (each.ok === "failed" ? alarm(each.ok) : each.ok ?? "–")],
    ["Over time", (each) => spark(each.counts)],
    ["Wanted", (each) => String(each.wanted ?? "–"), "number"],
    ["Lowest", (each) => (each.dipped ? alarm(String(each.lowest)) : String(each.lowest ?? "–")), "number"],
    ...(data.workloads.some((each) => each.plain !== null)
      ? [["In a plain eviction", (each) => String(each.plain ?? "–"), "number"]] : []),
    ["Too few for", (each) => (each.dipped ? lastedAtLeast(each) : "–"), "number"],
    ["None for", (each) => (each.zero ? alarm(lasted(each.zero)) : "–"), "number"],
    ["Most beside", (each) => String(each.beside ?? "–"), "number"],
    ["Floor", (each) => String(each.floor ?? "–"), "number"],
    ["Pods", (each) => String(each.pods), "number"],
    ["Late", (each) => ifAny(each.late), "number"],
  ], data.workloads, { detail: aboutWorkload });

  const jump = (each) => {
    const made = make("button", { type: "button", class: "jump" }, name(each));
    made.addEventListener("click", () => { search.value = ""; choose(); workloads.open(each); });
    return made;
  };

  function answers() {
    const dips = data.dips.map((each) => ({ ...each, of: data.workloads[each.workload] }));
    const dipped = dips.length ? sheet("Workloads with too few pods", [
      ["Workload", (each) => jump(each.of)],
      ["Over time", (each) => spark(each.of.counts)],
      ["Lowest", (each) => alarm(each.of.lowest ? `${each.of.lowest} of ${each.of.wanted}` : `none of ${each.of.wanted}`), "number"],
      ["Too few for", (each) => lastedAtLeast(each.of), "number"],
      ["Why", (each) => make("bdi", {}, each.why), "words"],
      ["What to change", (each) => make("bdi", {}, each.change), "words"],
    ], dips, { isSearched: false }).parts : [make("p", {}, data.counted ? "No workload had fewer pods than wanted." : "How many pods were available is not in these records.")];
    const late = data.late.length ? sheet("Late pods by reason", [
      ["Pods", (each) => alarm(String(each.pods))],
      ["Why", (each) => make("bdi", {}, each.why), "words"],
      ["Of", (each) => make("bdi", {}, each.workloads), "words"],
      ["What to change", (each) => make("bdi", {}, each.change), "words"],
    ], data.late, { isSearched: false }).parts : [make("p", {}, "No pod was late.")];
    const figures = make("dl", { class: "figures" }, ...data.figures.map(([title, value, isBad]) =>
      make("div", {}, make("dt", {}, title), make("dd", { class: isBad ? "bad" : null }, value))));
    const said = data.verdict.map((each) => make("p", {}, make("bdi", {}, each)));
    return make("section", { id: "answers", "aria-label": "Answers" }, figures, ...said,
      make("h2", {}, "Which workloads dipped, and why"), ...dipped,
      make("h2", {}, "What was late"), ...late);
  }

  const content = document.getElementById("content");
  const patterns = svg("svg", { width: 0, height: 0, "aria-hidden": "true", class: "patterns" });
  const pattern = svg("pattern", { id: "hatch", width: 5, height: 5, patternUnits: "userSpaceOnUse" });
  pattern.append(svg("path", { d: "M0 5L5 0", class: "slant" }));
  patterns.append(pattern);
  content.append(patterns, answers());
  const minutes = sheet("Minute by minute", [
    ["From", (each) => clock(each.at), "time"],
    ["Nodes noticed", (each) => String(each.noticed), "number"],
    ["Deadlines", (each) => String(each.deadlines), "number"],
    ["Replacements asked for", (each) => String(each.released), "number"],
    ["Pods gone", (each) => String(each.went), "number"],
    ["Late", (each) => ifAny(each.late), "number"],
    ["Workloads with too few", (each) => ifAny(each.below), "number"],
  ], data.minutes, { isSearched: false });
  const whole = data.total.length
    ? [chart(data.total, "Pods available and wanted, of all these workloads", data.nodes.filter((n) => n.dies && n.deadline !== null).map((n) => n.deadline))]
    : [];
  content.append(
    section("minutes", "Minute by minute", data.workloads.some((each) => each.counts.some((count) => count[1] === null))
      ? "The chart leaves out workloads of which it is not known throughout how many pods were available." : "",
    ...whole, ...minutes.parts),
    section("workloads", "Workloads", "Most beside: pods that were available beyond those wanted, old ones and their replacements.", ...workloads.parts),
    section("nodes", "Nodes", "", ...sheet("Nodes", [
      ["Node", (each) => make("bdi", {}, each.name)],
      ["Pool", (each) => each.pool || "–"],
      ["Notice", (each) => each.kind || "–"],
      ["Noticed", (each) => at(each.noticed), "time"],
      ["Deadline", (each) => at(each.deadline), "time"],
      ["Pods", (each) => String(each.pods), "number"],
      ["Late", (each) => ifAny(each.late), "number"],
    ], data.nodes, { detail: (each) => [...steps(each), ...podsOf(`Pods on ${each.name}`, data.pods.filter((pod) => pod.node === each.name))] }).parts),
  );
  if (data.pools.length) content.append(section("pools", "Pools", "", ...sheet("Pools", [
    ["Pool", (each) => each.name],
    ["Nodes", (each) => String(each.nodes), "number"],
    ["Pods", (each) => String(each.pods), "number"],
    ["Late", (each) => ifAny(each.late), "number"],
  ], data.pools, { isSearched: false }).parts));
  content.append(section("pods", "Pods", "", ...sheet("Pods", podColumns, data.pods, { detail: steps }).parts));
  if (data.money) content.append(section("money", "Money", data.money.note, ...sheet("Money",
    data.money.columns.map((title, i) => [title, (row) => row[i], i ? "number" : ""]), data.money.rows, { isSearched: false }).parts));
  if (data.notes.length) content.append(section("notes", "Notes in the log", "", ...sheet("Notes", [
    ["Time", (each) => clock(each[0]), "time"],
    ["Note", (each) => make("bdi", {}, each[1]), "words"],
  ], data.notes, { isSearched: false }).parts));

  document.getElementById("headline").textContent = data.headline;
  document.getElementById("when").textContent =
    `${data.cluster ? `Cluster ${data.cluster}, ` : ""}${new Date(data.begins * 1000).toISOString().slice(0, 10)}, ${clock(0)} to ${clock(data.lasts)} UTC, from ${data.source}`;
  document.getElementById("colophon").textContent = `Made by ${data.maker} from what it logged. Times are UTC. This page loads nothing and sends nothing.`;
  document.getElementById("sections").append(...sections.map(([id, title]) => make("li", {}, make("a", { href: `#${id}` }, title))));
  drawIn(content);

  // Search, theme, print

  const search = document.getElementById("search");
  function choose() {
    const word = search.value.trim().toLowerCase();
    const found = sheets.map((each) => [each.choose(word), each.caption]);
    const [ofWorkloads, ofNodes, ofPods] = found.map(([number]) => number);
    document.getElementById("found").textContent = word
      ? `${counted(ofWorkloads, "workload")}, ${counted(ofNodes, "node")}, ${counted(ofPods, "pod")}` : "";
  }
  search.addEventListener("input", choose);
  search.addEventListener("keydown", (event) => {
    if (event.key === "Escape") { search.value = ""; choose(); }
    if (event.key === "Enter") { event.preventDefault(); document.getElementById("workloads").scrollIntoView(); }
  });
  document.addEventListener("keydown", (event) => {
    const isTyping = event.target.closest?.("input");
    if (event.key === "/" && !isTyping && !event.ctrlKey && !event.metaKey) {
      event.preventDefault();
      search.focus();
    }
  });

  components.chooseThemes(repaint);

  let before;
  addEventListener("beforeprint", () => {
    before = root.dataset.theme;
    root.dataset.theme = "light";
    for (const each of charts) each.drawn.setSize({ width: 660, height: 200 });
    repaint();
  });
  addEventListener("afterprint", () => {
    if (before) root.dataset.theme = before;
    else delete root.dataset.theme;
    for (const each of charts) each.drawn.setSize({ width: Math.max(200, each.box.clientWidth), height: 200 });
    repaint();
  });
  root.dataset.ready = Math.round(performance.now());
})();
