// Draws a run's curves in the page's colours, light or dark.
(function () {
  "use strict";
  const root = document.documentElement;
  const colour = (name) => getComputedStyle(root).getPropertyValue(name).trim();

  // A colour of which a part is white, or black if negative.
  function mixed(hex, shade) {
    const end = shade > 0 ? 255 : 0;
    const part = (at) => {
      const value = parseInt(hex.slice(at, at + 2), 16);
      return Math.round(value + (end - value) * Math.abs(shade)).toString(16).padStart(2, "0");
    };
    return "#" + part(1) + part(3) + part(5);
  }
  // On a dark page dark shades have to stay visible.
  const DARK_PART = 0.6;

  // On a narrow page there is no room for the word before a region's number.
  const NARROW = 700;
  let smooth = false;
  const EMPTY = { x: [null], y: [null], mode: "lines", showlegend: false, hoverinfo: "skip" };

  function themed(curves) {
    const ink = colour("--ink"), grid = colour("--grid"), rule = colour("--rule");
    const quiet = colour("--quiet");
    const narrow = root.clientWidth < NARROW;
    const dark = matchMedia("screen and (prefers-color-scheme: dark)").matches;
    const traces = curves.data.map((trace) => {
      const part = trace.meta ? trace.meta.colour : "ink";
      const hue = part && colour("--" + part);
      const shade = (trace.meta?.shade || 0) * (dark && trace.meta.shade < 0 ? DARK_PART : 1);
      const own = (hue && shade ? mixed(hue, shade) : hue) || trace.line?.color || ink;
      const now = { ...trace };
      if (trace.line) now.line = { ...trace.line, color: own };
      // Plotly's own half-transparent areas are pale, and dull on a dark page.
      if (trace.stackgroup) now.fillcolor = own + "cc";
      if (trace.fill) now.fillcolor = own + "66";
      if (smooth && trace.meta?.smoothed) now.y = trace.meta.smoothed;
      if (trace.marker) now.marker = { ...trace.marker, color: own };
      return now;
    });
    // In a picture, plotly.js places no axis of a panel all of whose curves are hidden, unless an
    // empty one is left in it: the legend, which hides curves, does not know this one.
    for (const name of Object.keys(curves.layout).filter((key) => key.startsWith("yaxis"))) {
      traces.push({ ...EMPTY, yaxis: name.replace("axis", "") });
    }
    // On a narrow page the legend takes a line for two curves; the panels keep their height.
    const named = curves.data.filter((trace) => trace.showlegend !== false).length;
    const layout = {
      ...curves.layout,
      height: curves.layout.height + (narrow ? 12 * named : 0),
      paper_bgcolor: "rgba(0,0,0,0)",
      plot_bgcolor: "rgba(0,0,0,0)",
      font: { color: ink },
      modebar: { ...curves.layout.modebar, bgcolor: "rgba(0,0,0,0)", color: quiet, activecolor: ink },
      hoverlabel: { bgcolor: colour("--sheet"), bordercolor: rule, font: { color: ink } },
      shapes: curves.layout.shapes.map((shape) => ({ ...shape, line: { ...shape.line, color: rule } })),
      annotations: curves.layout.annotations.map((note) => ({
        ...note,
        text: narrow ? note.text.replace("region ", "") : note.text,
        font: { ...note.font, color: quiet },
      })),
    };
    for (const name of Object.keys(layout)) {
      if (/^[xy]axis/.test(name)) layout[name] = { ...layout[name], gridcolor: grid, linecolor: rule };
    }
    return { data: traces, layout: layout };
  }

  // Each element for curves names the element that holds their data.
  const drawn = [];
  const config = JSON.parse(document.getElementById("plotly-config").textContent);
  for (const place of document.querySelectorAll("[data-curves]")) {
    if (typeof Plotly === "undefined") break;
    const curves = JSON.parse(document.getElementById(place.dataset.curves).textContent);
    const first = themed(curves);
    Plotly.newPlot(place, first.data, first.layout, config);
    drawn.push({ place, curves });
  }
  function redraw() {
    for (const { place, curves } of drawn) {
      const next = themed(curves);
      // The range that the reader has zoomed to is kept.
      for (const name of Object.keys(next.layout)) {
        if (/^[xy]axis/.test(name) && place.layout[name]) {
          next.layout[name].range = place.layout[name].range;
          next.layout[name].autorange = place.layout[name].autorange;
        }
      }
      Plotly.react(place, next.data, next.layout);
    }
  }

  const smoother = document.getElementById("smooth");
  if (smoother) {
    smoother.hidden = drawn.length === 0;
    smoother.addEventListener("click", () => {
      smooth = !smooth;
      smoother.setAttribute("aria-pressed", String(smooth));
      redraw();
    });
  }
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);
  matchMedia("print").addEventListener("change", redraw);
})();

// Sorts a table's rows by the column whose heading is pressed; pressed again, the other way round.
(function () {
  "use strict";
  const FACTORS = { k: 1e3, M: 1e6, G: 1e9 };

  // A cell's number, with its unit's prefix, or else its text; a dash stands for no value.
  function valueOf(cell) {
    const text = cell.innerText.trim();
    if (text === "-") return null;
    const [, digits, prefix] = text.match(/^(-?[\d.,]+(?:e-?\d+)?)\s*([kMG]?)/) || [];
    return digits ? parseFloat(digits.replaceAll(",", "")) * (FACTORS[prefix] || 1) : text;
  }

  function order(a, b) {
    if (typeof a === "number" && typeof b === "number") return a - b;
    return String(a).localeCompare(String(b));
  }

  function sort(table, column, falls) {
    const body = table.tBodies[0];
    const rows = [...body.rows].map((row) => [valueOf(row.cells[column]), row]);
    const known = rows.filter(([value]) => value !== null);
    known.sort(([a], [b]) => (falls ? order(b, a) : order(a, b)));
    const unknown = rows.filter(([value]) => value === null);
    body.append(...[...known, ...unknown].map(([, row]) => row));
  }

  for (const table of document.querySelectorAll("table.sortable")) {
    const headings = [...table.tHead.rows[0].cells];
    headings.forEach((heading, column) => {
      if (heading.matches(".drawn")) return;
      const button = document.createElement("button");
      button.type = "button";
      button.append(...heading.childNodes);
      heading.append(button);
      button.addEventListener("click", () => {
        const falls = heading.getAttribute("aria-sort") === "ascending";
        headings.forEach((each) => each.removeAttribute("aria-sort"));
        heading.setAttribute("aria-sort", falls ? "descending" : "ascending");
        sort(table, column, falls);
      });
    });
  }
})();
