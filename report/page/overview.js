/** The last finite loss of a run; null if there is none. */
function lastLoss(run) { return run.steps.loss.filter((loss) => loss !== null).at(-1) ?? null; }

/** Names of tasks in the order of their first runs, with the runs of each. */
function runsByTask(report) {
  const tasks = new Map();
  for (const run of report.runs) tasks.set(run.task, [...(tasks.get(run.task) ?? []), run]);
  return tasks;
}

/** Runs of the same name have the same colour, in every task. */
function giveStyles(report) {
  const names = [...new Set(report.runs.map(({name}) => name))];
  for (const run of report.runs) run.style = names.indexOf(run.name);
}

function drawOverview(report, container) {
  const tables = [...runsByTask(report)].map(([task, runs]) => {
    const results = [...new Set(runs.flatMap((run) => Object.keys(run.results)))];
    const isReplay = runs.every(({device}) => device === '');
    const columns = [
      'run', ...results, ...(isReplay ? [] : ['last loss']), 'last scale', 'skipped steps',
      ...(isReplay ? [] : ['median step', 'peak memory'])
    ];
    const rows = runs.map(
        (run) =>
            [html('span', {}, swatch(run.style), run.name),
             ...results.map((name) => name in run.results ? format.real(run.results[name]) : ''),
             ...(isReplay ? [] : [format.real(lastLoss(run))]),
             run.has_scaler ? format.scale(run.steps.scale.at(-1) ?? null) : 'no scaler',
             `${format.integer(run.skipped)} of ${format.integer(run.steps.total)}`,
             ...(isReplay ? [] :
                            [format.seconds(run.median_seconds), format.bytes(run.peak_bytes)])]);
    const heading = task === '' ? [] : [html('h3', {style: 'margin-top: 1.2rem'}, task)];
    return [...heading, tableOf(task || 'Runs', columns.map((name) => ({name})), rows)];
  });
  container.replaceChildren(...tables.flat());
}
