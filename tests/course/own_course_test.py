"""Promises that the pages make about files of the course: sizes, links, pictures, and what the grader says."""
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent


def contrast(one, other):
    """The contrast of two colours such as 1a1a1a, by the formula of WCAG 2.1."""
    def luminance(colour):
        colour = "".join(2 * digit for digit in colour) if len(colour) == 3 else colour
        shares = [int(colour[i:i + 2], 16) / 255 for i in (0, 2, 4)]
        linear = [x / 12.92 if x <= 0.04045 else ((x + 0.055) / 1.055) ** 2.4 for x in shares]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
    dark, light = sorted((luminance(one), luminance(other)))
    return (light + 0.05) / (dark + 0.05)


class OwnCourse(unittest.TestCase):
    def test_autograd_engines_have_at_most_200_lines(self):
        for name in ("03_autograd/engine.h", "python/autograd_engine.py"):
            lines = (ROOT / "examples/course" / name).read_text().count("\n")
            self.assertLessEqual(lines, 200, name)

    def test_readme_lists_every_chapter(self):
        page = (ROOT / "docs/course/README.md").read_text()
        for path in sorted((ROOT / "docs/course").glob("[0-9][0-9]_*.md")):
            self.assertIn(f"({path.name})", page)

    def test_chapters_stand_alone(self):
        """No file of a chapter includes a file of another one."""
        for path in [*(ROOT / "examples/course").rglob("*.cpp"), *(ROOT / "examples/course").rglob("*.h")]:
            parts = path.relative_to(ROOT / "examples/course").parts
            own = next((part[:2] for part in parts if re.match(r"\d\d_", part)), "no chapter")
            for included in re.findall(r'#include "([^"]*)"', path.read_text()):
                for other in re.findall(r"(?:^|/)(\d\d)_", included):
                    self.assertEqual(other, own, f"{path} includes {included}")

    def test_pictures_are_svg_for_light_and_dark_pages(self):
        pictures = sorted((ROOT / "docs/course/images").glob("*.svg"))
        self.assertGreater(len(pictures), 7)
        for path in pictures:
            root = xml.etree.ElementTree.parse(path).getroot()
            self.assertTrue(root.find("{*}title").text, f"{path}: expected a title for screen readers")
            self.assertIn("prefers-color-scheme:dark", path.read_text(), path)

    def test_words_in_pictures_have_contrast(self):
        """WCAG 2.1 asks for a contrast of 4.5 between text and its background."""
        used = set()
        for path in (ROOT / "docs/course/images").glob("*.svg"):
            used |= set(re.findall(r'<text[^>]*fill:var\(--(\w+)\)', path.read_text()))
        self.assertIn("ink", used)
        style = (ROOT / "examples/course/shared/svg.cpp").read_text()
        for page in style.split("@media"):
            colours = dict(re.findall(r"--(\w+):#(\w+)", page))
            for text in used:
                self.assertGreaterEqual(contrast(colours[text], colours["paper"]), 4.5, f"{text} on paper")
            for pale in (name for name in colours if name.startswith("pale_")):
                self.assertGreaterEqual(contrast(colours["soft"], colours[pale]), 4.5, f"soft on {pale}")

    def test_links_lead_to_files(self):
        listed = set(re.findall(r"\((\d\d_\w+\.md)\)", (ROOT / "docs/course/README.md").read_text()))
        self.assertEqual(len(listed), 12)
        for page in (ROOT / "docs/course").glob("*.md"):
            for link in re.findall(r"\]\(([^)\s]+)\)", page.read_text()):
                path, _, anchor = link.partition("#")
                if path.startswith(("http:", "https:")) or path in listed and not (page.parent / path).exists():
                    continue
                target = (page.parent / path).resolve() if path else page
                self.assertTrue(target.exists(), f"{page.name} links {link}")
                if anchor:
                    headings = re.findall(r"^#+ (.*)$", target.read_text(), re.MULTILINE)
                    anchors = [re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings]
                    self.assertIn(anchor, anchors, f"{page.name} links {link}")

    def test_readme_shows_what_the_grader_says(self):
        shown = (ROOT / "docs/course/README.md").read_text().split("```text\n")[1].split("```")[0]
        with tempfile.TemporaryDirectory() as folder:
            lesson = [sys.executable, ROOT / "tools/lesson", "--lessons", folder]
            subprocess.run([*lesson, "start", "2"], check=True, stdout=subprocess.DEVNULL)
            done = subprocess.run([*lesson, "test", "2"], check=False, stdout=subprocess.PIPE, text=True)
        self.assertIn(shown, done.stdout)


if __name__ == "__main__":
    unittest.main()
