/**
   A chart of curves over steps.

    options: {title, yLabel, yLog: undefined, 10 or 2, yText(value), ticks, isStepped, startsAtZero,
              series: [{name, style: index, points: [{x, y}]}],
              events: [{x, y, shape: 'up', 'down' or 'cross', label}]}
    A point is a circle that can have the focus. Returns the <figure>, with setHidden(names).
 */
function lineChart(options) {
  const figure = html('figure', {}, html('figcaption', {}, options.title));
  const box = html('div');
  figure.append(box);
  let hidden = new Set(), width = 0;
  const draw = () => {
    if (width > 0) box.replaceChildren(drawLines(options, hidden, width));
  };
  drawnToWidth(box, (newWidth) => {
    width = newWidth;
    draw();
  });
  figure.setHidden = (names) => {
    hidden = names;
    draw();
  };
  const rows = () => options.series.flatMap(
      ({name, points}) => points.map(({x, y}) => [name, format.integer(x), options.yText(y)]));
  figure.append(
      dataTable(options.title, [{name: 'run'}, {name: 'step'}, {name: options.yLabel}], rows));
  return figure;
}

function drawLines(options, hidden, width) {
  const height = Math.round(Math.min(340, Math.max(220, width * 0.52)));
  const edge = {left: 58, right: 14, top: 26, bottom: 40};
  const series = options.series.filter(({name}) => !hidden.has(name));
  const events = options.events ?? [];
  const all = [...options.series.flatMap(({points}) => points), ...events];
  const values = all.map(({y}) => y).filter((y) => !options.yLog || y > 0);
  const [low, high] = yRange(values, options);
  const lastStep = Math.max(1, ...all.map(({x}) => x));
  const x = positions(0, lastStep, edge.left, width - edge.right, false);
  const position = positions(low, high, height - edge.bottom, edge.top, options.yLog);
  const y = (value) => position(Math.max(low, value));

  const label = `${options.title}: ${options.series.length} ${
                    options.series.length === 1 ? 'curve' : 'curves'} over ` +
      `${format.integer(lastStep)} steps. Arrow keys move between points.`;
  const chart = svg('svg', {
    viewBox: `0 0 ${width} ${height}`,
    width,
    height,
    role: 'group',
    'aria-label': label,
    class: 'chart'
  });
  const ticks = options.yLog ? logTicks(low, high, options.yLog, height / 34) :
                               (options.ticks ?? linearTicks)(low, high, height / 55);
  for (const tick of ticks) {
    chart.append(
        svg('line',
            {class: 'grid', x1: edge.left, x2: width - edge.right, y1: y(tick), y2: y(tick)}),
        svg('text', {x: edge.left - 8, y: y(tick) + 4, 'text-anchor': 'end'}, options.yText(tick)));
  }
  chart.append(svg('line', {
    class: 'axis',
    x1: edge.left,
    x2: width - edge.right,
    y1: height - edge.bottom,
    y2: height - edge.bottom
  }));
  for (const tick of linearTicks(0, lastStep, width / 90)) {
    chart.append(
        svg('text', {x: x(tick), y: height - edge.bottom + 17, 'text-anchor': 'middle'},
            format.integer(tick)));
  }
  const lowest = Math.min(...values);
  const cut = lowest < low ? `, the lowest value is ${options.yText(lowest)}` : '';
  chart.append(
      svg('text', {x: 0, y: 12, class: 'strong'},
          options.yLabel + (options.yLog ? ', log scale' : cut)),
      svg('text', {x: width - edge.right, y: height - 5, 'text-anchor': 'end', class: 'strong'},
          'step'));

  const cross =
      svg('line', {class: 'cross', y1: edge.top, y2: height - edge.bottom, visibility: 'hidden'});
  chart.append(cross);
  const marks = [];
  for (const each of series) {
    const {color, dash} = style(each.style);
    const drawable = each.points.filter((point) => !options.yLog || point.y > 0);
    chart.append(svg('path', {
      class: 'curve',
      d: pathOf(drawable, x, y, options.isStepped),
      stroke: color,
      'stroke-dasharray': dash
    }));
    for (const point of drawable) {
      const mark = svg('circle', {
        class: 'point',
        cx: x(point.x),
        cy: y(point.y),
        r: 4.5,
        fill: color,
        role: 'img',
        'aria-label': `${each.name}, step ${format.integer(point.x)}: ${options.yLabel} ${
            options.yText(point.y)}`
      });
      mark.datum = {series: each, point};
      marks.push(mark);
    }
  }
  for (const event of events) {
    const mark = svg('path', {
      class: `event point shown ${event.shape}`,
      d: shapePath(event.shape, x(event.x), y(event.y)),
      fill: event.shape === 'up' ? 'var(--s3)' : 'var(--bad)',
      role: 'img',
      'aria-label': event.label
    });
    mark.datum = {event, point: event};
    marks.push(mark);
  }
  chart.append(...marks);
  interact(chart, marks, series, cross, x, options, edge, width);
  return chart;
}

/** Range of an axis: all values, except that a few far below zero end at the lower edge. */
function yRange(values, {yLog, startsAtZero}) {
  if (values.length === 0) return yLog ? [1, 10] : [0, 1];
  const sorted = [...values].sort((a, b) => a - b), high = sorted.at(-1);
  let low = sorted[0];
  if (yLog) {
    const factor = yLog === 2 ? 2 : Math.max(1.15, (high / low) ** 0.04);
    return [low / factor, high * factor];
  }
  const usual = sorted[Math.floor(sorted.length * 0.1)];
  if (low < 0 && usual - low > 4 * (high - usual)) low = usual - (high - usual);
  const pad = (high - low || Math.abs(high) || 1) * 0.06;
  return [low >= 0 && (startsAtZero || low < high * 0.5) ? 0 : low - pad, high + pad];
}

function pathOf(points, x, y, isStepped) {
  let path = '';
  points.forEach((point, i) => {
    const to = `${x(point.x).toFixed(1)} ${y(point.y).toFixed(1)}`;
    if (i === 0)
      path += `M${to}`;
    else
      path += isStepped ? `H${x(point.x).toFixed(1)}V${y(point.y).toFixed(1)}` : `L${to}`;
  });
  return path;
}

function shapePath(shape, x, y) {
  if (shape === 'cross')
    return `M${x - 5} ${y - 7}l5 5l5 -5l2 2l-5 5l5 5l-2 2l-5 -5l-5 5l-2 -2l5 -5l-5 -5z`;
  const sign = shape === 'up' ? 1 : -1;
  return `M${x} ${y - 7 * sign}l7 ${12 * sign}h-14z`;
}

/** Shows what the pointer is near to, and what has the focus. */
function interact(chart, marks, series, cross, x, options, edge, width) {
  const describe = (step, near, focused) => {
    for (const mark of marks)
      if (!mark.datum.event) mark.classList.toggle('shown', near.includes(mark));
    cross.setAttribute('visibility', 'visible');
    cross.setAttribute('x1', x(step));
    cross.setAttribute('x2', x(step));
    const lines = near.map(
        ({datum}) => datum.event ? [datum.event.label, ''] :
                                   [datum.series.name, options.yText(datum.point.y)]);
    const heading = `step ${format.integer(step)}`;
    if (focused)
      tooltip.showFocused(heading, lines, near[0]);
    else
      tooltip.show(heading, lines, near[0].getBoundingClientRect());
  };
  const leave = () => {
    cross.setAttribute('visibility', 'hidden');
    for (const mark of marks)
      if (!mark.datum.event) mark.classList.remove('shown');
    tooltip.hide();
  };
  const nearest = (step) => {
    if (marks.length === 0) return [];
    const distance = (mark) => Math.abs(mark.datum.point.x - step);
    const closest = marks.reduce((best, mark) => distance(mark) < distance(best) ? mark : best);
    return marks.filter((mark) => mark.datum.point.x === closest.datum.point.x);
  };
  chart.addEventListener('pointermove', (event) => {
    const at = event.clientX - chart.getBoundingClientRect().left;
    const lastX = width - edge.right;
    const last = marks.length === 0 ? 0 : Math.max(...marks.map(({datum}) => datum.point.x));
    const near = nearest((at - edge.left) / (lastX - edge.left) * Math.max(1, last));
    if (near.length > 0) describe(near[0].datum.point.x, near);
  });
  chart.addEventListener('pointerleave', leave);
  chart.addEventListener('focusout', leave);
  chart.addEventListener('focusin', (event) => {
    if (event.target.datum) describe(event.target.datum.point.x, [event.target], true);
  });
  focusByArrows(chart, marks, (mark, key) => {
    const own = marks.filter(({datum}) => datum.series === mark.datum.series);
    const at = own.indexOf(mark);
    if (key === 'ArrowRight') return own[at + 1];
    if (key === 'ArrowLeft') return own[at - 1];
    if (key !== 'ArrowUp' && key !== 'ArrowDown') return undefined;
    const groups = [...series, undefined];
    const group = groups[groups.indexOf(mark.datum.series) + (key === 'ArrowDown' ? 1 : -1)];
    return marks.find(({datum}) => datum.series === group && datum.point.x >= mark.datum.point.x);
  });
}
