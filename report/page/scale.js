/** The corners of the scale's curve: the first step, the step after each change, the last step. */
function scalePoints(run) {
  const points = [], changes = run.scale_changes;
  const add = (x, y) => {
    if (y > 0) points.push({x, y});
  };
  add(0, changes.length > 0 ? changes[0].scale : run.steps.scale[0]);
  for (const change of changes) {
    if (change.next_scale !== change.scale) add(change.step + 1, change.next_scale);
  }
  const last = run.steps.total - 1;
  if (points.length === 0 || points.at(-1).x < last) add(last, run.steps.scale.at(-1));
  return points;
}

/** So many causes are shown at once, more behind a click. */
const causesShown = 12;

/** The scale over the steps, with every skipped step, back-off and growth. */
function drawScale(run, container) {
  if (!run.has_scaler) {
    container.replaceChildren(
        html('p', {}, 'This run has no GradScaler: its loss is not multiplied by anything.'));
    return;
  }
  const changes = run.scale_changes;
  const events = changes.map((change) => ({
                               x: change.step,
                               y: change.scale,
                               shape: change.event === 'growth' ? 'up' :
                                   change.event === 'backoff'   ? 'down' :
                                                                  'cross',
                               label: `step ${format.integer(change.step)}: ${change.cause}`,
                             }));
  const counted = (event, one, many) => {
    const count = changes.filter((change) => change.event === event).length;
    return `${format.integer(count)} ${count === 1 ? one : many}`;
  };
  const summary =
      `${format.integer(run.skipped)} of ${format.integer(run.steps.total)} steps skipped, ` +
      `${counted('backoff', 'back-off', 'back-offs')} (▼), ` +
      `${counted('growth', 'growth', 'growths')} (▲).`;
  const chart = lineChart({
    title: 'Loss scale',
    yLabel: 'scale',
    yLog: 2,
    yText: format.scale,
    isStepped: true,
    series: [{name: run.name, style: run.style, points: scalePoints(run)}],
    events
  });
  const causes = changes.length === 0 ? [] : [
    dataTable(
        'Causes', [{name: 'step'}, {name: 'event', words: true}, {name: 'cause', words: true}],
        () => changes.map((change) => [format.integer(change.step), change.event, change.cause]))
  ];
  if (changes.length <= causesShown) causes.forEach((table) => table.open = true);
  const left = run.scale_changes_left_out;
  container.replaceChildren(
      html('p', {}, summary), chart, ...causes,
      ...(left > 0 ? [html('p', {}, `${format.integer(left)} later changes are left out.`)] : []));
}
