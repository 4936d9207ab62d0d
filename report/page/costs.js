/** Memory over the steps, and time and memory by op. */
function drawCosts(run, container) {
  const memory = lineChart({ title: 'Memory of live arrays after each step', yLabel: 'memory', yText: format.bytes,
    series: [{ name: run.name, style: run.style, points: pointsOf(run, 'bytes') }] });
  const time = lineChart({ title: 'Time of a step', yLabel: 'time', yText: format.seconds,
    series: [{ name: run.name, style: run.style, points: pointsOf(run, 'seconds') }] });
  container.replaceChildren(html('div', { class: 'pair' }, time, memory));
}
