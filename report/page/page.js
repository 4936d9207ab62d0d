/** Fills the page from its data. */
function main() {
  const report = JSON.parse(document.getElementById('data').textContent);
  giveStyles(report);
  document.getElementById('title').textContent = report.title;
  const facts = document.getElementById('facts');
  const devices = [...new Set(report.runs.map(({device}) => device))].join(', ');
  facts.textContent = [
    devices, `${report.threads} ${report.threads === 1 ? 'thread' : 'threads'}`
  ].filter(Boolean).join(', ');
  if (report.command !== '') facts.append('. Made by ', html('code', {}, report.command));
  const notes = report.notes.map((note) => html('p', {}, note));
  if (report.interrupted)
    notes.unshift(html(
        'p', {class: 'notice'},
        'The training was interrupted: the page shows the steps until then.'));
  if (report.runs.length === 0)
    notes.unshift(html('p', {class: 'notice'}, 'No run has ended a step yet.'));
  document.getElementById('notes').append(...notes);

  const isReplay = report.runs.length > 0 && report.runs.every(({device}) => device === '');
  for (const id of isReplay ? ['exponents', 'ops', 'costs', 'launches'] : [])
    document.getElementById(id).remove();
  const sections = [...document.querySelectorAll('main section')];
  document.getElementById('contents')
      .append(...sections.map(
          (section) => html(
              'li', {},
              html('a', {href: `#${section.id}`}, section.querySelector('h2, h3').textContent))));
  const ready = report.runs.filter((run) => run.steps.total > 0);
  drawOverview(report, document.getElementById('runs'));
  drawTasks({runs: ready}, document.getElementById('tasks'));
  chooseRun(ready);
  listFiles();
}

/** The choice of a run, and the sections that show it. */
function chooseRun(runs) {
  const choice = document.getElementById('run');
  for (const [task, group] of runsByTask({runs})) {
    const options = group.map((run) => html('option', {value: runs.indexOf(run)}, run.name));
    choice.append(...(task === '' ? options : [html('optgroup', {label: task}, ...options)]));
  }
  const draw = () => {
    const run = runs[choice.value];
    for (const [id, drawSection] of [
             ['scale-chart', drawScale], ['exponents-chart', drawExponents], ['ops-table', drawOps],
             ['costs-charts', drawCosts], ['launches-chart', drawLaunches]]) {
      const container = document.getElementById(id);
      if (container !== null) drawSection(run, container);
    }
  };
  const best = [
    runs.findIndex((run) => run.scale_changes.length > 0), runs.findIndex((run) => run.has_scaler),
    0
  ];
  choice.value = best.find((index) => index >= 0);
  choice.addEventListener('change', draw);
  if (runs.length > 0)
    draw();
  else
    document.getElementById('inside').hidden = true;
}

/** Links to the files beside the page, if it is a file. */
function listFiles() {
  const path = decodeURI(location.pathname).match(/([^/]+)\.[^./]+$/);
  if (path === null) return;
  const links =
      ['data.json', 'runs.csv', 'steps.csv', 'exponents.csv', 'ops.csv', 'costs.csv'].flatMap(
          (ending) =>
              [' ', html('a', {href: encodeURI(`${path[1]}.${ending}`)}, `${path[1]}.${ending}`)]);
  document.getElementById('files').append('The data of this page:', ...links);
}

/** The button that changes between the system's colours, light, and dark. */
const theme = {
  names: ['auto', 'light', 'dark'],
  chosen: 'auto',
  system: matchMedia('(prefers-color-scheme: dark)'),
  paper: matchMedia('print'),
  apply() {
    const isDark = theme.chosen === 'dark' || (theme.chosen === 'auto' && theme.system.matches);
    document.documentElement.dataset.theme = isDark && !theme.paper.matches ? 'dark' : 'light';
    document.getElementById('theme').textContent = `Colours: ${theme.chosen}`;
  },
  start() {
    theme.system.addEventListener('change', theme.apply);
    theme.paper.addEventListener('change', theme.apply);
    document.getElementById('theme').addEventListener('click', () => {
      theme.chosen = theme.names[(theme.names.indexOf(theme.chosen) + 1) % theme.names.length];
      theme.apply();
    });
    theme.apply();
  },
};

theme.start();
main();
