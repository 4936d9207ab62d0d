"""check_links.py finds each kind of broken link, and nothing in a whole site."""

import tempfile
import unittest
from pathlib import Path

from check_links import problems_of

PAGE = """<!doctype html><link rel="stylesheet" href="style.css"><h1 id="top">x</h1>
<a href="{link}">link</a><img src="{image}"><script src="{script}"></script>"""


class CheckLinksTest(unittest.TestCase):
    def problems(self, link="#top", image="a.png", script="a.js", style=""):
        with tempfile.TemporaryDirectory() as folder:
            site = Path(folder).resolve()
            for name in ("a.png", "a.js"):
                (site / name).touch()
            (site / "style.css").write_text(style)
            (site / "index.html").write_text(PAGE.format(link=link, image=image, script=script))
            (site / "sub").mkdir()
            (site / "sub" / "index.html").write_text('<a href="../index.html#top">up</a>')
            return list(problems_of(site))

    def test_whole_sites_have_none(self):
        for link in ("#top", "sub/", "sub/index.html", "https://example.org/x", "a.png", "?q#top"):
            self.assertEqual(self.problems(link=link), [], link)
        self.assertEqual(self.problems(style="a { background: url(a.png) url('data:,x') }"), [])

    def test_broken_ones_are_named(self):
        cases = [(dict(link="missing.html"), "no such file"),
                 (dict(link="#missing"), "no such anchor"),
                 (dict(link="sub/index.html#missing"), "no such anchor"),
                 (dict(link="/sub/"), "relative"),
                 (dict(link="../outside.html"), "no such file"),
                 (dict(image="b.png"), "no such file"),
                 (dict(script="https://example.org/a.js"), "another site"),
                 (dict(style="a { background: url(//example.org/b.png) }"), "another site"),
                 (dict(style="@font-face { src: url(b.woff2) }"), "no such file")]
        for arguments, message in cases:
            problems = self.problems(**arguments)
            self.assertEqual(len(problems), 1, arguments)
            self.assertIn(message, problems[0])

    def test_a_folder_without_pages_is_a_problem(self):
        with tempfile.TemporaryDirectory() as folder:
            self.assertEqual(len(list(problems_of(Path(folder)))), 1)


if __name__ == "__main__":
    unittest.main()
