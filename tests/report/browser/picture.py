"""Makes the picture of docs/report.md from a report of mnist_mlp: parts of its page, as a browser draws them.

    picture.py report.html docs/images/report.webp
"""
import base64
import pathlib
import sys

from browser import Browser, find

# Keeps the membrane task, and the gradients of its run in fp16 with a scaler.
PARTS = """
  const report = JSON.parse(document.getElementById('data').textContent);
  const choice = document.getElementById('run');
  choice.value = report.runs.findIndex((run) => run.task.startsWith('Membrane') && run.name === 'fp16');
  choice.dispatchEvent(new Event('change'));
  document.querySelectorAll('nav, #facts, #theme, #overview .look, #scale, #ops, #costs, #launches, footer, details').forEach((each) => each.remove());
  document.querySelectorAll('#runs, #tasks').forEach((each) => {
    while (!each.firstElementChild.textContent.startsWith('Membrane')) each.firstElementChild.remove();
  });
  document.body.style.paddingBottom = '1rem';
"""

browser = Browser(find())
try:
    browser.open(sys.argv[1], width=1100, height=800)
    browser.run(f"(() => {{ {PARTS} }})()")
    browser.settle()
    size = browser.call("Page.getLayoutMetrics")["cssContentSize"]
    picture = browser.call("Page.captureScreenshot", format="webp", quality=88, captureBeyondViewport=True,
                           clip={"x": 0, "y": 0, "width": size["width"], "height": size["height"], "scale": 1.25})
    pathlib.Path(sys.argv[2]).write_bytes(base64.b64decode(picture["data"]))
finally:
    browser.close()
