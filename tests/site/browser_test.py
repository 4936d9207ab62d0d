"""The built site in a real browser, opened from files: SITE names its folder. Needs Chromium.

With SCREENSHOTS=FOLDER the test also writes what it saw.
"""

import functools
import http.server
import os
import threading
import unittest
from pathlib import Path

import site_browser

SITE = Path(os.environ.get("SITE", "build/site")).resolve()
PROGRAM = site_browser.find()
# Generated pages look alike: two folders of them stand for all.
GENERATED = ("api/", "source/")
SEEN = ("api/autograd/", "api/index", "source/autograd/graph/")
SEARCH_RESULTS = "[...document.querySelectorAll('.md-search-result__link')].map(link => link.href)"
# The width of a page that is wider than the window, or 0.
OVERFLOW = """
(() => {
  const width = document.documentElement.clientWidth;
  return document.documentElement.scrollWidth > width ? document.documentElement.scrollWidth : 0;
})()
"""
BACKGROUND = "getComputedStyle(document.body).backgroundColor"


@unittest.skipUnless(PROGRAM, "SKIPPED: no Chromium on this machine, so the site was not seen")
class SiteTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        if not (SITE / "index.html").is_file():
            raise FileNotFoundError(f"{SITE}: expected a site, found none: run tools/docs")
        cls.browser = site_browser.SiteBrowser(PROGRAM)
        cls.addClassCleanup(cls.browser.close)

    def setUp(self):
        self.browser.resize(1280, 900)
        self.browser.prefer("light")
        self.browser.errors.clear()
        self.browser.requests.clear()

    def open(self, page, base=None):
        self.browser.go((base or SITE.as_uri()) + "/" + page)

    def text_of(self, selector):
        return self.browser.run(f"document.querySelector('{selector}').innerText")

    def look(self, name):
        if "SCREENSHOTS" in os.environ:
            self.browser.screenshot(Path(os.environ["SCREENSHOTS"]) / f"{name}.png")

    def expect_no_complaints(self, allowed=("file:", "data:", "about:", "blob:")):
        self.assertEqual(self.browser.errors, [])
        elsewhere = [url for url in self.browser.requests if not url.startswith(allowed)]
        self.assertEqual(elsewhere, [])

    def search(self, words):
        """Types a word into the search box, and returns the addresses of its results.

        While it is being typed, the page shows the results of its first letters. Each address names
        the letters searched for.
        """
        self.browser.wait_for("document.querySelector('.md-search__input') !== null")
        self.browser.run("document.querySelector('.md-search__input').focus()")
        self.browser.type(words)
        return self.browser.wait_for(f"(() => {{ const all = {SEARCH_RESULTS}; "
                                     f"return all.some(a => a.includes('h={words.lower()}')) && all; }})()")

    def test_home_page_is_light_or_dark_as_the_system_is(self):
        backgrounds = {}
        for scheme in ("light", "dark"):
            self.browser.prefer(scheme)
            self.open("index.html")
            self.assertIn("halfgrad", self.text_of("h1"))
            self.assertGreater(self.browser.run("document.images[0].naturalWidth"), 300)
            red = self.browser.run(BACKGROUND).partition("(")[2].partition(",")[0]
            backgrounds[scheme] = int(red)
            self.look(f"home-{scheme}")
        self.assertGreater(backgrounds["light"], 200)
        self.assertLess(backgrounds["dark"], 80)
        self.expect_no_complaints()

    def test_search_leads_to_a_page(self):
        self.open("index.html")
        results = self.search("GradScaler")
        self.assertTrue(any("grad_scaler.h.html" in link for link in results), results)
        self.assertTrue(any("/docs/" in link for link in results), results)
        self.look("search")
        self.browser.go(results[0])
        self.assertIn("GradScaler", self.text_of("article"))
        self.expect_no_complaints()

    def test_search_works_on_a_server_too(self):
        handler = functools.partial(QuietHandler, directory=SITE)
        with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
            threading.Thread(target=server.serve_forever, daemon=True).start()
            base = f"http://127.0.0.1:{server.server_port}"
            self.open("docs/glossary.html", base)
            self.assertTrue(self.search("found_inf"))
            self.expect_no_complaints(allowed=(base, "data:", "blob:"))
            server.shutdown()

    def test_diagrams_are_drawn(self):
        for scheme in ("light", "dark"):
            self.browser.prefer(scheme)
            self.open("docs/mixed-precision.html")
            self.browser.wait_for("document.querySelectorAll('pre.mermaid').length === 0")
            heights = self.browser.run(
                "[...document.querySelectorAll('div.mermaid')].map(d => d.clientHeight)")
            self.assertGreaterEqual(len(heights), 3)
            self.assertGreater(min(heights), 80, heights)
            self.assertGreater(self.browser.shadow_elements("foreignobject"), 10)
            self.browser.run("document.querySelector('div.mermaid').scrollIntoView()")
            self.look(f"diagram-{scheme}")
        self.expect_no_complaints()

    def test_phone_has_a_navigation(self):
        self.browser.resize(360, 780, mobile=True)
        self.open("index.html")
        self.browser.run("document.querySelector('.md-header label[for=__drawer]').click()")
        self.browser.wait_for("document.querySelector('.md-sidebar--primary')"
                              ".getBoundingClientRect().left >= 0")
        self.look("phone-navigation")
        links = "[...document.querySelectorAll('.md-sidebar--primary a[href]')]"
        target = self.browser.wait_for(f"{links}.map(a => a.href).find(a => a.includes('/docs/'))")
        self.browser.go(target)
        self.assertTrue(self.browser.run("document.querySelector('article h1') !== null"))
        self.expect_no_complaints()

    def test_pages_fit_a_phone_and_load_without_an_error(self):
        self.browser.resize(360, 780, mobile=True)
        wide = {}
        for path in sorted(SITE.rglob("*.html")):
            page = path.relative_to(SITE).as_posix()
            if page == "404.html" or (page.startswith(GENERATED) and not page.startswith(SEEN)):
                continue
            self.open(page)
            if width := self.browser.run(OVERFLOW):
                wide[page] = width
        self.assertEqual(wide, {})
        self.expect_no_complaints()


class QuietHandler(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *arguments):
        """Prints nothing."""


if __name__ == "__main__":
    unittest.main()
