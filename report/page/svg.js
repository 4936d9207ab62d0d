/** Makes an element of HTML; attributes whose value is null are left out. */
function html(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== null) element.setAttribute(name, value);
  }
  element.append(...children);
  return element;
}

/** Makes an element of SVG. */
function svg(tag, attributes = {}, ...children) {
  const element = document.createElementNS('http://www.w3.org/2000/svg', tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
}

const dashes = ['', '8 4', '', '3 4', '10 3 3 3', '14 4', '6 3', '4 2'];

/** Colour and dash of the series with this index. */
function style(index) {
  const at = index % dashes.length, round = Math.floor(index / dashes.length);
  return {color: `var(--s${at})`, dash: dashes[(at + 3 * round) % dashes.length]};
}

/** A short piece of the line of a series, for legends and tables. */
function swatch(index) {
  const {color, dash} = style(index);
  return svg('svg', {width: 26, height: 10, class: 'swatch', 'aria-hidden': 'true'}, svg('line', {
               x1: 1,
               x2: 25,
               y1: 5,
               y2: 5,
               stroke: color,
               'stroke-width': 3,
               'stroke-dasharray': dash
             }));
}

/** Round numbers of bytes from low to high: multiples of a power of 1024. */
function byteTicks(low, high, count) {
  const unit = 1024 ** Math.floor(Math.log(Math.max(1, high)) / Math.log(1024));
  return linearTicks(low / unit, high / unit, count).map((tick) => tick * unit);
}

/** Round values from low to high, about `count` of them. */
function linearTicks(low, high, count) {
  const rough = (high - low) / Math.max(1, count);
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((each) => each >= rough);
  const ticks = [];
  for (let i = Math.ceil(low / step - 1e-9); i * step <= high * (1 + 1e-12); ++i) {
    ticks.push(Number((i * step).toPrecision(12)));
  }
  return ticks;
}

/** Powers of `base` from low to high, thinned to about `count`; for base 10 with 2 and 5 if few. */
function logTicks(low, high, base, count) {
  const log = (value) => Math.log(value) / Math.log(base);
  const first = Math.ceil(log(low) - 1e-9), last = Math.floor(log(high) + 1e-9);
  const every = Math.max(1, Math.ceil((last - first + 1) / count));
  const ticks = [];
  for (let exponent = first; exponent <= last; exponent += every) ticks.push(base ** exponent);
  if (base === 10 && last - first < 2) {
    for (let exponent = first - 1; exponent <= last; ++exponent) {
      for (const factor of [2, 5]) {
        const value = factor * 10 ** exponent;
        if (value >= low && value <= high) ticks.push(Number(value.toPrecision(3)));
      }
    }
  }
  return ticks.sort((a, b) => a - b);
}

/** Maps values of [low, high] to positions of [from, to], in a linear or logarithmic scale. */
function positions(low, high, from, to, isLog) {
  const map = isLog ? Math.log : Number;
  const start = map(low), span = map(high) - start || 1;
  return (value) => from + (map(value) - start) / span * (to - from);
}

/** Draws again whenever the width of `container` changes. `draw(width)` returns nothing. */
function drawnToWidth(container, draw) {
  let drawn = 0;
  const redraw = () => {
    const width = Math.floor(container.clientWidth);
    if (width > 0 && width !== drawn) draw(drawn = width);
  };
  new ResizeObserver(redraw).observe(container);
  redraw();
}

/** A table behind a chart, in a <details>; its rows are made when it is opened. */
function dataTable(heading, columns, rows) {
  const details = html('details', {}, html('summary', {}, `${heading} as a table`));
  details.addEventListener('toggle', () => {
    if (details.open && details.childElementCount === 1)
      details.append(tableOf(heading, columns, rows()));
  });
  return details;
}

/** A table that scrolls sideways in its own box. Cells are texts or elements. */
function tableOf(label, columns, rows) {
  const head = columns.map(
      (column) => html('th', {scope: 'col', class: column.words ? 'words' : null}, column.name));
  const body = rows.map(
      (cells) => html(
          'tr', {},
          ...cells.map(
              (cell, i) => i === 0 ?
                  html('th', {scope: 'row'}, cell) :
                  html('td', {class: columns[i].words ? 'words' : null}, cell))));
  return html(
      'div', {class: 'scroll', tabindex: 0, role: 'region', 'aria-label': label},
      html('table', {}, html('thead', {}, html('tr', {}, ...head)), html('tbody', {}, ...body)));
}
