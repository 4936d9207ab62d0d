"""Looks at reports of halfgrad in a real browser.

    page_test.py BIN FOLDER     runs the programs in BIN, and writes their reports into FOLDER

Exits with 77, and says why, where there is no Chromium.
"""
import itertools
import json
import pathlib
import subprocess
import sys
import unittest

import colours
from browser import Browser, find

PROGRAMS = {
    "mnist_mlp": "--steps 30 --hidden 16 --batch 64 --threads 2",
    "amp_loops": "--steps 12",
    "char_lm": "--steps 8 --width 16 --layers 1 --samples 0 --threads 2",
    "loss_scalers": "--trace one-in-1000 --steps 5000",
}
LOWEST_ROW = -40  # exponents.js: smaller exponents share this row

TEXTS = """
[...document.querySelectorAll('body *')].flatMap((element) => {
  const owns = [...element.childNodes].some((node) => node.nodeType === 3 && node.textContent.trim() !== '');
  const box = element.getBoundingClientRect(), look = getComputedStyle(element);
  if (!owns || box.width === 0 || ['SCRIPT', 'STYLE', 'OPTION', 'NOSCRIPT'].includes(element.tagName)) return [];
  const backgrounds = [];
  for (let each = element; each !== null; each = each.parentElement) backgrounds.push(getComputedStyle(each).backgroundColor);
  return [{text: element.textContent.trim().slice(0, 40), colour: element.ownerSVGElement ? look.fill : look.color,
           backgrounds, size: parseFloat(look.fontSize), bold: Number(look.fontWeight) >= 700}];
})"""


class Reports(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder.mkdir(parents=True, exist_ok=True)
        cls.data = {}
        for program, arguments in PROGRAMS.items():
            page = folder / f"{program}.html"
            subprocess.run([programs / program, *arguments.split(), "--report", page], check=True, stdout=subprocess.DEVNULL)
            cls.data[program] = json.loads(page.with_suffix(".data.json").read_text())
        cls.browser = Browser(find())

    @classmethod
    def tearDownClass(cls):
        cls.browser.close()

    def open(self, program, **window):
        self.browser.open(folder / f"{program}.html", **window)

    def count(self, selector):
        return self.browser.run(f"document.querySelectorAll({json.dumps(selector)}).length")

    def choose(self, selector, value):
        self.browser.run(f"""{{ const control = document.querySelector({json.dumps(selector)});
            control.value = {json.dumps(value)}; control.dispatchEvent(new Event('change', {{bubbles: true}})); }}""")
        self.browser.settle()

    def charts(self):
        """Titles of the charts that are shown, with the number of points of each."""
        return dict(self.browser.run("""[...document.querySelectorAll('figure')].filter((figure) => figure.querySelector('svg.chart'))
            .map((figure) => [figure.querySelector('figcaption').textContent,
                              figure.querySelectorAll('circle.point, path.event, .cell, .bar').length])"""))

    def test_every_chart_has_the_marks_of_its_data(self):
        for program, data in self.data.items():
            self.open(program)
            self.assertEqual(json.loads(self.browser.run("document.getElementById('data').textContent")), data)
            charts = self.charts()
            by_task = {}
            for run in data["runs"]:
                by_task.setdefault(run["task"], []).append(run)
            for task, runs in by_task.items():
                suffix = f", {task.split(':')[0]}" if task else ""
                losses = sum(loss is not None for run in runs for loss in run["steps"]["loss"])
                self.assertEqual(charts.get(f"Loss{suffix}", 0), losses, (program, task))
                for score in {run["score"] for run in runs} - {""}:
                    scores = sum(value is not None for run in runs if run["score"] == score for value in run["steps"]["score"])
                    self.assertEqual(charts[score[0].upper() + score[1:] + suffix], scores, (program, task))
            for index, run in enumerate(data["runs"]):
                with self.subTest(program=program, run=run["name"], task=run["task"]):
                    self.choose("#run", str(index))
                    self.check_run(run)

    def check_run(self, run):
        charts = self.charts()
        if run["has_scaler"]:
            changes = [each for each in run["scale_changes"] if each["scale"] != each["next_scale"] and each["next_scale"] > 0]
            ends = 1 + (not changes or changes[-1]["step"] + 1 < run["steps"]["total"] - 1)
            self.assertEqual(charts["Loss scale"], ends + len(changes) + len(run["scale_changes"]))
            self.assertEqual(self.count("#scale .down"), sum(each["event"] == "backoff" for each in run["scale_changes"]))
        if run["device"] == "":  # a replay
            self.assertEqual(self.count("#exponents"), 0)
            return
        self.check_exponents(run)
        self.assertEqual(self.count("#ops-table tbody tr"), len(run["ops"]["rows"]))
        self.assertEqual(charts["Time of a step"], sum(each is not None for each in run["steps"]["seconds"]))
        self.assertEqual(charts["Memory of live arrays after each step"], len(run["steps"]["bytes"]))
        if run["costs"]["steps"] > 0:
            ops = {row["part_of"] or row["op"] for row in run["costs"]["rows"]}
            self.assertIn(charts["Time by op, in one step"], (len(ops), 12))

    def check_exponents(self, run):
        for place, times in itertools.product([None, run["exponents"][0]["places"][-1]["name"]], ("scaled", "unscaled")):
            if place is not None or self.browser.run("document.querySelector('#place').options[0].value") == "":
                self.choose("#place", place or "")
            if times == "unscaled" and self.count("[value=unscaled]"):
                self.browser.run("document.querySelector('[value=unscaled]').click()")
            elif self.count("[value=scaled]"):
                self.browser.run("document.querySelector('[value=scaled]').click()")
            elif times == "scaled":
                continue
            self.browser.settle()
            chosen = self.browser.run("document.querySelector('#place').value")
            cells = 0
            for sample in run["exponents"]:
                places = [each for each in sample["places"] if (each["parameter"] if chosen == "" else each["name"] == chosen)]
                rows = set()
                for each in places:
                    counts = each.get(times, each["unscaled"])
                    rows |= {max(LOWEST_ROW, counts["first"] + i) for i, count in enumerate(counts["counts"]) if count}
                cells += len(rows) + any(each["zeros"] for each in places)
                cells += any(each["infinities"] + each["nans"] for each in places)
            self.assertEqual(self.count("#exponents .cell"), cells, (chosen, times))

    def test_reads_itself_only_and_reports_no_error(self):
        self.browser.errors.clear()
        for program in PROGRAMS:
            self.browser.requests.clear()
            self.open(program)
            page = (folder / f"{program}.html").resolve().as_uri()
            self.assertEqual(set(self.browser.requests), {page})
        self.assertEqual(self.browser.errors, [])

    def tooltip(self):
        return self.browser.run("document.getElementById('tooltip').hidden ? '' : document.getElementById('tooltip').innerText")

    def test_tooltips_follow_the_pointer_and_the_keyboard(self):
        for width in (1200, 360):
            self.open("mnist_mlp", width=width)
            for selector, expected in (("#loss svg.chart", "step"), ("#exponents svg.chart", "zero"),
                                       ("#scale svg.chart", "step"), ("#costs .bar", "forward")):
                box = self.browser.run(f"""(() => {{ const mark = document.querySelector('{selector}');
                    mark.scrollIntoView({{block: 'center'}}); return new Promise((done) => requestAnimationFrame(() =>
                    requestAnimationFrame(() => {{ const box = mark.getBoundingClientRect();
                    done([box.x + box.width / 2, box.y + box.height / 2]); }}))); }})()""")
                self.browser.move_to(*box)
                self.assertIn(expected, self.tooltip(), selector)
                inside = self.browser.run("""(() => { const box = document.getElementById('tooltip').getBoundingClientRect();
                    return box.left >= 0 && box.right <= innerWidth; })()""")
                self.assertTrue(inside, f"{selector} at {width}")
                self.browser.move_to(1, 1)
                self.assertEqual(self.tooltip(), "", selector)

        self.open("mnist_mlp")
        for selector in ("#loss circle.point", "#exponents .column", "#costs .bar"):
            self.browser.run(f"document.querySelector('{selector}').focus()")
            labels = []
            for key in ("ArrowRight", "End", "Home"):
                self.assertNotEqual(self.tooltip(), "")
                self.browser.press(key)
                labels.append(self.browser.run("document.activeElement.getAttribute('aria-label')"))
            self.assertEqual(len(set(labels)), 3, selector)
            self.browser.press("Escape")
            self.assertEqual(self.tooltip(), "")

    def test_toggles_hide_curves_and_change_colours(self):
        self.open("mnist_mlp")
        before = self.count("#loss .pair .curve")
        press = "document.querySelector('#loss .legend button').click()"
        self.browser.run(press)
        self.browser.settle()
        self.assertLess(self.count("#loss .pair .curve"), before)
        self.assertEqual(self.browser.run("document.querySelector('#loss .legend button').ariaPressed"), "false")
        self.browser.run(press)
        self.browser.settle()
        self.assertEqual(self.count("#loss .pair .curve"), before)

        themes = []
        for _ in range(3):
            self.browser.run("document.getElementById('theme').click()")
            themes.append(self.browser.run("document.documentElement.dataset.theme"))
        self.assertEqual(themes, ["light", "dark", "light"])
        self.open("mnist_mlp", dark=True)
        self.assertEqual(self.browser.run("document.documentElement.dataset.theme"), "dark")
        self.open("mnist_mlp", dark=True, media="print")
        self.assertEqual(self.browser.run("document.documentElement.dataset.theme"), "light")

        self.browser.run("document.querySelectorAll('details').forEach((each) => { each.open = true; })")
        self.open("mnist_mlp")
        self.browser.run("document.querySelectorAll('details').forEach((each) => { each.open = true; })")
        self.browser.settle()
        self.assertEqual(self.count("#loss details"), self.count("#loss details table"))
        rows = self.browser.run("document.querySelector('#loss details tbody').childElementCount")
        self.assertEqual(rows, self.charts()["Loss, Digits"])

    def test_contrast_is_that_of_wcag_aa(self):
        for dark in (False, True):
            self.open("mnist_mlp", dark=dark)
            page = colours.rgb(self.browser.run("getComputedStyle(document.body).backgroundColor"))
            for text in self.browser.run(TEXTS):
                background = page
                for each in reversed(text["backgrounds"]):
                    background = colours.over(colours.rgb(each), background)
                is_large = text["size"] >= 24 or (text["bold"] and text["size"] >= 18.66)
                ratio = colours.contrast(colours.over(colours.rgb(text["colour"]), background), background)
                self.assertGreaterEqual(ratio, 3 if is_large else 4.5, (text, "dark" if dark else "light"))
            lines = self.browser.run("""['.curve', '.axis', '.limit'].flatMap((selector) =>
                [...document.querySelectorAll(selector)].map((line) => getComputedStyle(line).stroke))""")
            for line in set(lines):
                self.assertGreaterEqual(colours.contrast(colours.rgb(line), page), 3, line)
            curves = self.browser.run("""Array.from({length: 8}, (_, i) => { const line = document.createElement('i');
                line.style.color = `var(--s${i})`; document.body.append(line); return getComputedStyle(line).color; })""")
            for a, b in itertools.combinations(map(colours.rgb, curves[:6]), 2):
                for vision in colours.VISION:
                    self.assertGreater(colours.distance(a, b, vision), 15, (a, b, vision, dark))

    def test_nothing_scrolls_sideways_on_a_phone(self):
        for program in PROGRAMS:
            self.open(program, width=360, height=740)
            self.browser.run("document.querySelectorAll('details').forEach((each) => { each.open = true; })")
            self.browser.settle()
            self.assertLessEqual(self.browser.run("document.documentElement.scrollWidth"), 360, program)

    def test_everything_has_a_name_and_a_heading(self):
        self.open("mnist_mlp")
        nameless = [node["role"]["value"] for node in self.browser.call("Accessibility.getFullAXTree")["nodes"]
                    if not node["ignored"] and not node.get("name", {}).get("value")
                    and any(each["name"] == "focusable" and each["value"].get("value") for each in node.get("properties", []))
                    and node["role"]["value"] != "RootWebArea"]
        self.assertEqual(nameless, [])
        levels = self.browser.run("[...document.querySelectorAll('h1, h2, h3, h4')].map((each) => Number(each.tagName[1]))")
        self.assertEqual(levels[0], 1)
        for above, below in itertools.pairwise(levels):
            self.assertLessEqual(below - above, 1, levels)
        looks = self.browser.run("[...document.querySelectorAll('main section')].map((each) => each.querySelectorAll('.look').length > 0)")
        self.assertTrue(all(looks))

    def test_prints_and_says_what_it_needs_without_scripts(self):
        self.open("mnist_mlp")
        self.assertTrue(self.browser.call("Page.printToPDF", printBackground=True)["data"].startswith("JVBER"))
        self.open("mnist_mlp", script=False)
        self.assertIn("are switched off here", self.browser.call("DOMSnapshot.captureSnapshot", computedStyles=[])["strings"].__str__())


if __name__ == "__main__":
    if find() is None:
        print("SKIPPED: no Chromium (Debian: apt-get install chromium)")
        sys.exit(77)
    programs, folder = (pathlib.Path(argument) for argument in sys.argv[1:3])
    unittest.main(argv=sys.argv[:1])
