/** Kernels, library calls and copies of a run on a GPU, or under the emulator. */
function drawLaunches(run, container) {
  if (run.launches.length === 0) {
    container.replaceChildren(html(
        'p', {},
        'Nothing was counted: a CPU has no launches. A run under the GPU emulator counts them, also ' +
            'on a machine without a GPU; docs/report.md has the two commands.'));
    return;
  }
  const rows = run.launches.map(
      ({name, times, bytes}) =>
          ({name, values: [times], detail: [['bytes moved', format.bytes(bytes)]]}));
  container.replaceChildren(
      barChart({title: 'Launches by kernel', parts: ['launches'], text: format.integer, rows}));
}
