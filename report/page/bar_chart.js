/**
   Horizontal bars, the longest first, each of one or more parts.

    options: {title, parts: [names], text(value), rows: [{name, values: [one for each part],
   detail}]}
 */
function barChart(options) {
  const figure = html('figure', {}, html('figcaption', {}, options.title));
  if (options.parts.length > 1) {
    figure.append(html(
        'p', {class: 'soft key'},
        ...options.parts.map(
            (name, i) => html(
                'span', {},
                html('span', {class: 'box', style: `background: ${style(barStyle(i)).color}`}),
                name))));
  }
  const box = html('div');
  figure.append(box);
  drawnToWidth(box, (width) => box.replaceChildren(drawBars(options, width)));
  const columns = [{name: 'name'}, ...options.parts.map((name) => ({name}))];
  figure.append(dataTable(
      options.title, columns,
      () => options.rows.map((row) => [row.name, ...row.values.map(options.text)])));
  return figure;
}

const barStyle = (part) => [2, 1, 3][part];

function drawBars(options, width) {
  const sum = (row) => row.values.reduce((total, value) => total + value, 0);
  const rows = [...options.rows].sort((a, b) => sum(b) - sum(a));
  const isNarrow = width < 520, lineHeight = isNarrow ? 40 : 26;
  const left =
      isNarrow ? 0 : Math.min(230, Math.max(...rows.map(({name}) => name.length)) * 7 + 16);
  const right = 84, height = rows.length * lineHeight + 4;
  const most = Math.max(...rows.map(sum), 1e-300);
  const chart = svg('svg', {
    viewBox: `0 0 ${width} ${height}`,
    width,
    height,
    role: 'group',
    class: 'chart',
    'aria-label': `${options.title}: ${rows.length} bars. Arrow keys move between them.`
  });
  const marks = rows.map((row, i) => {
    const top = i * lineHeight + (isNarrow ? 18 : 3), thickness = 18;
    const space = width - left - right, maximum = isNarrow ? 44 : 34;
    const name = row.name.length > maximum ? row.name.slice(0, maximum - 1) + '…' : row.name;
    chart.append(
        svg('text', {
          class: 'strong',
          x: isNarrow ? 0 : left - 8,
          y: isNarrow ? top - 5 : top + 13,
          'text-anchor': isNarrow ? 'start' : 'end'
        },
            name));
    const bar = svg('g', {
      class: 'bar',
      role: 'img',
      'aria-label': `${row.name}: ${
          row.values.map((value, part) => `${options.parts[part]} ${options.text(value)}`)
              .join(', ')}`
    });
    let at = left;
    row.values.forEach((value, part) => {
      const length = value / most * space;
      bar.append(svg('rect', {
        x: at,
        y: top,
        width: Math.max(length, value > 0 ? 1 : 0),
        height: thickness,
        fill: style(barStyle(part)).color
      }));
      at += length;
    });
    chart.append(bar, svg('text', {x: at + 6, y: top + 13}, options.text(sum(row))));
    const lines = [
      ...row.values.map((value, part) => [options.parts[part], options.text(value)]),
      ...(row.detail ?? [])
    ];
    bar.addEventListener(
        'pointerenter', () => tooltip.show(row.name, lines, bar.getBoundingClientRect()));
    bar.addEventListener('pointerleave', tooltip.hide);
    bar.addEventListener('focus', () => tooltip.showFocused(row.name, lines, bar));
    bar.addEventListener('blur', tooltip.hide);
    return bar;
  });
  focusByArrows(
      chart, marks,
      (mark, key) => marks
          [marks.indexOf(mark) +
           ({ArrowDown: 1, ArrowRight: 1, ArrowUp: -1, ArrowLeft: -1}[key] ?? NaN)]);
  return chart;
}
