/** Exponents of the gradients over the steps, and float16's range. */
const halfLimits = [
  {exponent: 16, text: '65504, the largest float16', isMinor: false},
  {exponent: -14, text: '2⁻¹⁴: below it, fewer than 11 bits', isMinor: true},
  {exponent: -24, text: '2⁻²⁴, the smallest float16', isMinor: false},
];
const lowestRow = -40;  // values below share this row

function drawExponents(run, container) {
  if (run.exponents.length === 0) {
    container.replaceChildren(html('p', {}, 'The gradients of this run were not observed.'));
    return;
  }
  const names = run.exponents[0].places.map(({name}) => name);
  const isScaled = run.exponents.some(({scale}) => scale !== 1);
  const hasParameters = run.exponents[0].places.some(({parameter}) => parameter);
  const place = html(
      'select', {class: 'control', id: 'place'},
      ...(hasParameters ? [html('option', {value: ''}, 'all parameters')] : []),
      ...names.map((name) => html('option', {value: name}, name)));
  const radio = (value, text) => html(
      'label', {},
      html(
          'input',
          {type: 'radio', name: 'times', value, ...(value === 'scaled' ? {checked: ''} : {})}),
      text);
  const times = html(
      'fieldset', {}, html('legend', {class: 'unseen'}, 'Gradients'),
      radio('scaled', 'times the scale, as backward computes them'),
      radio('unscaled', 'without the scale'));
  const controls = html('div', {class: 'controls'}, html('label', { for: 'place'
                        }, 'Gradient of'), place, ...(isScaled ? [times] : []));
  const result = html('div');
  const draw = () => {
    const chosen = isScaled ? times.querySelector(':checked').value : 'unscaled';
    result.replaceChildren(
        exponentFigure(run, place.value, chosen),
        html('p', {}, exponentSentence(run, place.value)));
  };
  controls.addEventListener('change', draw);
  container.replaceChildren(controls, result);
  draw();
}

/** Adds up the places of a sample: the one with this name, or all parameters. */
function columnOf(sample, name, times) {
  const places =
      sample.places.filter((place) => name === '' ? place.parameter : place.name === name);
  const column = {
    step: sample.step,
    scale: sample.scale,
    zeros: 0,
    bad: 0,
    total: 0,
    lost: [0, 0],
    counts: new Map()
  };
  for (const place of places) {
    column.zeros += place.zeros;
    column.bad += place.infinities + place.nans;
    column.lost[0] += place.lost_without_scale;
    column.lost[1] += place.lost_with_scale;
    const {first, counts} = place[times] ?? place.unscaled;
    counts.forEach((count, i) => {
      const row = Math.max(lowestRow, first + i);
      if (count > 0) column.counts.set(row, (column.counts.get(row) ?? 0) + count);
    });
  }
  column.total = column.zeros + column.bad + [...column.counts.values()].reduce((a, b) => a + b, 0);
  return column;
}

function exponentSentence(run, name) {
  const column = columnOf(run.exponents.at(-1), name, 'unscaled');
  if (column.total === 0) return '';
  const best = run.exponents.at(-1).recommended_scale;
  const zeros = `${format.share(column.zeros / column.total)} of the values are zero.`;
  const start = `At step ${format.integer(column.step)}, ${
      format.share(column.lost[0] / column.total)} of the values are below 2⁻²⁴`;
  return column.scale === 1 ?
      `${start}. ${zeros} The largest safe scale is ${format.scale(best)}.` :
      `${start} without the scale, and ${
          format.share(
              column.lost[1] / column.total)} with the scale ${format.scale(column.scale)}. ` +
          `${zeros} The largest safe scale is ${format.scale(best)}.`;
}

function exponentFigure(run, name, times) {
  const columns = run.exponents.map((sample) => columnOf(sample, name, times));
  const title = `Gradients of ${name || 'all parameters'} by exponent`;
  const most = Math.max(
      ...columns.map(({counts, total}) => Math.max(0, ...counts.values()) / Math.max(1, total)),
      1e-9);
  const figure = html('figure', {}, html('figcaption', {}, title), colourKey(most));
  const box = html('div');
  figure.append(box);
  drawnToWidth(box, (width) => box.replaceChildren(drawHeat(title, columns, most, width)));
  const cell = (column, row) => format.integer(column.counts.get(row) ?? 0);
  figure.append(dataTable(
      title, [{name: 'exponent'}, ...columns.map(({step}) => ({name: `step ${step}`}))],
      () => [
          ['inf or NaN', ...columns.map(({bad}) => format.integer(bad))],
          ...rowsOf(columns).map(
              (row) => [format.power(row), ...columns.map((column) => cell(column, row))]),
          ['zero', ...columns.map(({zeros}) => format.integer(zeros))]]));
  return figure;
}

/** Exponents from the largest to the smallest, float16's range included. */
function rowsOf(columns) {
  const used = columns.flatMap(({counts}) => [...counts.keys()]);
  const top = Math.max(18, ...used), bottom = Math.min(-28, ...used);
  return Array.from({length: top - bottom + 1}, (_, i) => top - i);
}

/**
   The colour of a cell that holds this share of its step's values. A square root keeps small
   shares visible.
 */
function heat(share, strongest) {
  return `rgba(var(--heat), ${
      (0.12 + 0.88 * Math.sqrt(Math.min(1, share / strongest))).toFixed(3)})`;
}

/** Explains the colours: shares of a step's values. */
function colourKey(most) {
  const parts = Array.from(
      {length: 12},
      (_, i) =>
          svg('rect',
              {x: i * 9, y: 0, width: 9, height: 12, style: `fill: ${heat((i + 0.5) / 12, 1)}`}));
  return html(
      'p', {class: 'soft key'}, 'share of the values in a row: above 0 % ',
      svg('svg', {width: 108, height: 12, class: 'swatch', 'aria-hidden': 'true'}, ...parts),
      ` ${format.share(most)}`);
}

function drawHeat(title, columns, most, width) {
  const rows = rowsOf(columns), edge = {left: 58, right: 14, top: 24, bottom: 40};
  const rowHeight = Math.max(5, Math.min(8, 420 / rows.length)), special = 13, gap = 5;
  const top = edge.top + special + gap, bottom = top + rows.length * rowHeight;
  const height = bottom + gap + special + edge.bottom;
  const columnWidth = (width - edge.left - edge.right) / columns.length;
  const x = (i) => edge.left + i * columnWidth;
  const y = (exponent) => top + (rows[0] - exponent) * rowHeight;
  const chart = svg('svg', {
    viewBox: `0 0 ${width} ${height}`,
    width,
    height,
    role: 'group',
    class: 'chart heat',
    'aria-label': `${title}: ${columns.length} steps. Arrow keys move between steps.`
  });

  const plot = {x: edge.left, width: width - edge.left - edge.right};
  chart.append(
      svg('rect', {class: 'lost', ...plot, y: edge.top, height: y(15) - edge.top}),
      svg('rect', {class: 'lost', ...plot, y: y(-25), height: bottom + gap + special - y(-25)}));
  columns.forEach((column, i) => {
    const cell = (share, strongest, at, tall, kind) => chart.append(svg('rect', {
      class: `cell ${kind}`,
      x: x(i) + 0.5,
      y: at,
      width: Math.max(1, columnWidth - 1),
      height: tall,
      style: `fill: ${heat(share, strongest)}`
    }));
    for (const [row, count] of column.counts)
      cell(count / column.total, most, y(row), rowHeight - 0.5, 'count');
    if (column.zeros > 0) cell(column.zeros / column.total, 1, bottom + gap, special, 'zero');
    if (column.bad > 0) cell(column.bad / column.total, 1, edge.top, special, 'bad');
  });

  for (const exponent of rows.filter((row) => row % 8 === 0)) {
    chart.append(
        svg('text', {x: edge.left - 8, y: y(exponent) + rowHeight / 2 + 4, 'text-anchor': 'end'},
            format.power(exponent)));
  }
  chart.append(
      svg('text', {x: edge.left - 8, y: edge.top + 10, 'text-anchor': 'end'}, 'inf'),
      svg('text', {x: edge.left - 8, y: bottom + gap + 11, 'text-anchor': 'end'}, '0'),
      svg('text', {x: 0, y: 12, class: 'strong'}, 'magnitude, from 2ᵉ to 2ᵉ⁺¹'),
      svg('text', {x: width - edge.right, y: height - 5, 'text-anchor': 'end', class: 'strong'},
          'step'));
  const every = Math.ceil(44 / columnWidth);
  columns.forEach((column, i) => {
    if (i % every === 0)
      chart.append(
          svg('text',
              {x: x(i) + columnWidth / 2, y: height - edge.bottom + 17, 'text-anchor': 'middle'},
              format.integer(column.step)));
  });
  for (const limit of halfLimits) {
    const at = y(limit.exponent - 1);
    chart.append(
        svg('line', {
          class: `limit${limit.isMinor ? ' minor' : ''}`,
          x1: edge.left,
          x2: width - edge.right,
          y1: at,
          y2: at
        }),
        svg('text', {
          class: 'halo',
          x: width - edge.right - 4,
          y: limit.exponent === 16 ? at - 5 : at + 14,
          'text-anchor': 'end'
        },
            limit.text));
  }
  addColumns(
      chart, columns,
      {x, y, columnWidth, top: edge.top, rows, rowHeight, bottom: bottom + gap + special});
  return chart;
}

/** A transparent rectangle over each column, for pointer and keyboard. */
function addColumns(chart, columns, place) {
  const share = (column, count) => format.share(count / Math.max(1, column.total));
  const lines = (column) => [
      ['values', format.integer(column.total)], ['inf or NaN', share(column, column.bad)],
      [
        'below 2⁻²⁴, not zero',
        share(
            column,
            [...column.counts].reduce((sum, [row, count]) => sum + (row < -24 ? count : 0), 0))
      ],
      ['zero', share(column, column.zeros)], ['scale', format.scale(column.scale)]];
  const marks = columns.map((column, i) => {
    const mark = svg('rect', {
      class: 'column',
      x: place.x(i),
      y: place.top,
      width: place.columnWidth,
      height: place.bottom - place.top,
      role: 'img',
      'aria-label': `step ${format.integer(column.step)}: ${
          lines(column).map((line) => line.join(' ')).join(', ')}`
    });
    const heading = `step ${format.integer(column.step)}`;
    mark.addEventListener('pointermove', (event) => {
      const inside = event.clientY - chart.getBoundingClientRect().top - place.y(place.rows[0]);
      const row = place.rows[Math.floor(inside / place.rowHeight)];
      const cell = row === undefined ? [] : [[
        `${format.power(row)} to ${format.power(row + 1)}`,
        share(column, column.counts.get(row) ?? 0)
      ]];
      const {clientX: left, clientY: top} = event;
      tooltip.show(heading, [...cell, ...lines(column)], {left, right: left, top, bottom: top});
    });
    mark.addEventListener('pointerleave', tooltip.hide);
    mark.addEventListener('focus', () => tooltip.showFocused(heading, lines(column), mark));
    mark.addEventListener('blur', tooltip.hide);
    return mark;
  });
  chart.append(...marks);
  focusByArrows(
      chart, marks,
      (mark, key) => marks[marks.indexOf(mark) + ({ArrowRight: 1, ArrowLeft: -1}[key] ?? NaN)]);
}
