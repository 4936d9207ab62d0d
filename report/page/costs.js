/** Memory over the steps, and time and memory by op. */
function drawCosts(run, container) {
  if (run.device === '') {
    container.replaceChildren(html('p', {}, 'This run is a replay: it trains nothing, so it has no times and no memory.'));
    return;
  }
  const memory = lineChart({ title: 'Memory of live arrays after each step', yLabel: 'memory', yText: format.bytes, ticks: byteTicks, startsAtZero: true,
    series: [{ name: run.name, style: run.style, points: pointsOf(run, 'bytes') }] });
  const time = lineChart({ title: 'Time of a step', yLabel: 'time', yText: format.seconds, startsAtZero: true,
    series: [{ name: run.name, style: run.style, points: pointsOf(run, 'seconds') }] });
  container.replaceChildren(html('div', { class: 'pair' }, time, memory));
}
