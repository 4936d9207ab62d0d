/** The ops of one observed step, and what autocast converted for each. */
function drawOps(run, container) {
  const {step, rows, promoted} = run.ops;
  if (step < 0) {
    container.replaceChildren(html('p', {}, 'The ops of this run were not observed.'));
    return;
  }
  const columns = [
    {name: 'op'}, {name: 'class', words: true}, {name: 'ran in', words: true}, {name: 'calls'},
    {name: 'operands cast'}, {name: 'from the cache'}, {name: 'bytes cast'}, {name: 'widened'}
  ];
  const dtype = (name) => html('span', {class: `dtype${name.endsWith('16') ? ' half' : ''}`}, name);
  const cells = rows.map(
      (row) =>
          [row.op, row.class.replace('_', ' '), dtype(row.dtype), format.integer(row.calls),
           format.integer(row.casts), format.integer(row.cached),
           row.bytes_cast === 0 ? '0' : format.bytes(row.bytes_cast),
           format.integer(row.promoted)]);
  const note = promoted.length === 0 ? [] : [
    html('p', {}, 'Widened by a float32 operand:'),
    html('ul', {class: 'sentences'}, ...promoted.map((sentence) => html('li', {}, sentence)))
  ];
  container.replaceChildren(
      html('p', {}, `Step ${format.integer(step)}.`), tableOf('Ops', columns, cells), ...note);
}
