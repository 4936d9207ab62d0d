/** The box that explains the point under the pointer or with the focus. Escape hides it. */
const tooltip = {
  focused: null,  // the mark with the focus that it explains

  /** Shows a heading and lines of [name, value] beside a rectangle of the window. */
  show(heading, lines, rectangle) {
    const box = document.getElementById('tooltip');
    box.replaceChildren(
        html('b', {}, heading),
        ...lines.map(
            ([name, value]) =>
                html('span', {class: 'value'}, html('span', {}, name), html('span', {}, value))));
    box.hidden = false;
    tooltip.place(rectangle);
  },

  /** Shows it beside a mark that has the focus, and keeps it there while the page scrolls. */
  showFocused(heading, lines, mark) {
    tooltip.show(heading, lines, mark.getBoundingClientRect());
    tooltip.focused = mark;
  },

  place(rectangle) {
    const box = document.getElementById('tooltip');
    const margin = 8, {width, height} = box.getBoundingClientRect();
    const right = rectangle.right + 12, above = rectangle.top - height - 12;
    const x = right + width + margin > window.innerWidth ? rectangle.left - width - 12 : right;
    box.style.left = `${Math.max(margin, Math.min(x, window.innerWidth - width - margin))}px`;
    box.style.top = `${above < margin ? rectangle.bottom + 12 : above}px`;
  },

  hide() {
    document.getElementById('tooltip').hidden = true;
    tooltip.focused = null;
  },
};

document.addEventListener('keydown', (event) => {
  if (event.key === 'Escape') tooltip.hide();
});
document.addEventListener('scroll', () => {
  if (tooltip.focused === null)
    tooltip.hide();
  else
    tooltip.place(tooltip.focused.getBoundingClientRect());
}, {passive: true});

/**
   Makes one of the marks reachable by Tab; the arrow keys move on. next(mark, key) returns the
   mark that a key leads to, or undefined.
 */
function focusByArrows(chart, marks, next) {
  marks.forEach((mark, i) => mark.setAttribute('tabindex', i === 0 ? 0 : -1));
  chart.addEventListener('keydown', (event) => {
    const at = marks.indexOf(document.activeElement);
    if (at < 0) return;
    const ends = {Home: marks[0], End: marks[marks.length - 1]};
    const target = ends[event.key] ?? next(marks[at], event.key);
    if (target === undefined) return;
    event.preventDefault();
    marks[at].setAttribute('tabindex', -1);
    target.setAttribute('tabindex', 0);
    target.focus();
  });
}
