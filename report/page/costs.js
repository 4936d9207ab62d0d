/** Time and memory by op, and over the steps. */
function drawCosts(run, container) {
  if (run.device === '') {
    container.replaceChildren(html(
        'p', {}, 'This run is a replay: it trains nothing, so it has no times and no memory.'));
    return;
  }
  const time = lineChart({
    title: 'Time of a step',
    yLabel: 'time',
    yText: format.seconds,
    startsAtZero: true,
    series: [{name: run.name, style: run.style, points: pointsOf(run, 'seconds')}]
  });
  const memory = lineChart({
    title: 'Memory of live arrays after each step',
    yLabel: 'memory',
    yText: format.bytes,
    ticks: byteTicks,
    startsAtZero: true,
    series: [{name: run.name, style: run.style, points: pointsOf(run, 'bytes')}]
  });
  const {steps, seconds} = run.costs;
  if (steps === 0) {
    container.replaceChildren(
        html('p', {}, 'The ops of this run were not timed.'),
        html('div', {class: 'pair'}, time, memory));
    return;
  }
  const byOp = costsByOp(run.costs);
  const parts = ['forward', 'backward'];
  const inOps = byOp.reduce((sum, {times}) => sum + times[0] + times[1], 0);
  const summary = `Mean of ${format.integer(steps)} timed ${steps === 1 ? 'step' : 'steps'}, ${
                      format.seconds(seconds / steps)} each: ` +
      `${format.seconds(inOps)} in ops; the rest is the optimizer, the scaler, and your loop.`;
  const rows = (field, count = 12) => longest(
      byOp.map(
          (row) =>
              ({name: row.name, values: row[field], detail: [['calls', format.real(row.calls)]]})),
      count);
  container.replaceChildren(
      html('p', {}, summary),
      html(
          'div', {class: 'pair'},
          barChart(
              {title: 'Time by op, in one step', parts, text: format.seconds, rows: rows('times')}),
          barChart({
            title: 'Memory of results and gradients by op, in one step',
            parts,
            text: format.bytes,
            rows: rows('bytes')
          }),
          time, memory));
}

/** One row for each op, forward and backward; what runs in an op's derivative belongs to the op. */
function costsByOp({steps, rows}) {
  const byOp = new Map();
  for (const {op, part_of: whole, backward, calls, seconds, bytes} of rows) {
    const name = whole || op;
    if (!byOp.has(name)) byOp.set(name, {name, calls: 0, times: [0, 0], bytes: [0, 0]});
    const row = byOp.get(name), part = backward ? 1 : 0;
    row.times[part] += seconds / steps;
    row.bytes[part] += bytes / steps;
    if (whole === '' && !backward) row.calls += calls / steps;
  }
  return [...byOp.values()];
}

/** The `count` longest rows, and the others as one. */
function longest(rows, count) {
  const size = ({values}) => values[0] + values[1];
  const sorted = rows.filter((row) => size(row) > 0).sort((a, b) => size(b) - size(a));
  if (sorted.length <= count) return sorted;
  const rest = sorted.slice(count - 1);
  const sum = (part) => rest.reduce((total, {values}) => total + values[part], 0);
  return [...sorted.slice(0, count - 1), {name: `${rest.length} others`, values: [sum(0), sum(1)]}];
}
