/** Loss and score of all runs, task by task. */
function drawTasks(report, container) {
  container.replaceChildren(
      ...[...runsByTask(report)].flatMap(([task, runs]) => drawTask(task, runs)));
}

/** Points of a column of run.steps. Steps whose value is missing are left out. */
function pointsOf(run, column) {
  return run.steps.step.map((x, i) => ({x, y: run.steps[column][i]})).filter(({y}) => y !== null);
}

function drawTask(task, runs) {
  const suffix = task === '' ? '' : `, ${task.split(':')[0]}`;
  const seriesOf = (column, shown = runs) =>
      shown.map((run) => ({name: run.name, style: run.style, points: pointsOf(run, column)}));
  const losses = runs.flatMap((run) => pointsOf(run, 'loss')).map(({y}) => y);
  const charts = [];
  const isWide =
      losses.length > 0 && Math.min(...losses) > 0 && Math.max(...losses) > 8 * Math.min(...losses);
  if (losses.length > 0) {
    charts.push(lineChart({
      title: `Loss${suffix}`,
      yLabel: 'loss',
      yLog: isWide ? 10 : undefined,
      yText: format.real,
      series: seriesOf('loss')
    }));
  }
  for (const score of new Set(runs.map((run) => run.score).filter(Boolean))) {
    charts.push(lineChart({
      title: `${capital(score)}${suffix}`,
      yLabel: score,
      yText: format.real,
      series: seriesOf('score', runs.filter((run) => run.score === score))
    }));
  }
  const scaled = runs.filter((run) => run.has_scaler);
  if (scaled.length > 1) {
    charts.push(lineChart({
      title: `Loss scale${suffix}`,
      yLabel: 'scale',
      yLog: 2,
      yText: format.scale,
      isStepped: true,
      series: scaled.map((run) => ({name: run.name, style: run.style, points: scalePoints(run)}))
    }));
  }
  const bad = runs.filter((run) => run.steps.nonfinite.some((count) => count > 0))
                  .map(
                      (run) => html(
                          'p', {class: 'notice'},
                          `${run.name}: the loss was inf or NaN in ` +
                              `${
                                  format.integer(run.steps.nonfinite.reduce(
                                      (a, b) => a + b, 0))} steps, which the curve leaves out.`));
  return [
    ...(task === '' ? [] : [html('h3', {style: 'margin-top: 1.6rem'}, task)]),
    legend(runs, (hidden) => charts.forEach((chart) => chart.setHidden(hidden))),
    html('div', {class: 'pair'}, ...charts), ...bad
  ];
}

const capital = (text) => text.charAt(0).toUpperCase() + text.slice(1);

/** Buttons that show and hide curves. */
function legend(runs, change) {
  const hidden = new Set();
  return html(
      'div', {class: 'legend screen', role: 'group', 'aria-label': 'Curves to show'},
      ...runs.map((run) => {
        const button =
            html('button', {type: 'button', 'aria-pressed': 'true'}, swatch(run.style), run.name);
        button.addEventListener('click', () => {
          const isShown = hidden.has(run.name);
          if (isShown)
            hidden.delete(run.name);
          else
            hidden.add(run.name);
          button.setAttribute('aria-pressed', String(isShown));
          change(new Set(hidden));
        });
        return button;
      }));
}
