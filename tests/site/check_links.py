#!/usr/bin/env python3
"""Checks that each link of a built site leads to a file of the site, and each anchor to an element.

  tests/site/check_links.py SITE

Links to other sites are not fetched. A script, style, image or font from elsewhere is an error: the
site must work without a network.
"""

import re
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

# Attributes that a browser loads by itself.
LOADED = {("script", "src"), ("img", "src"), ("iframe", "src"), ("source", "src"), ("video", "src")}
LOADED_RELATIONS = {"stylesheet", "icon", "preload", "manifest"}


class Page(HTMLParser):
    """The anchors and links of a page."""

    def __init__(self, path):
        super().__init__()
        self.anchors, self.links, self.loaded = {"", "__top"}, [], []
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag, attributes):
        values = dict(attributes)
        self.anchors.update(values[name] for name in ("id", "name") if values.get(name))
        loads = set((values.get("rel") or "").split()) & LOADED_RELATIONS
        for name in ("href", "src"):
            if values.get(name) is not None:
                loaded = (tag, name) in LOADED or (tag == "link" and loads)
                (self.loaded if loaded else self.links).append(values[name])
        srcset = (values.get("srcset") or "").split(",")
        self.loaded += [entry.split()[0] for entry in srcset if entry]


def problems_of(site):
    """Sentences about broken links, each with its page. Expects at least one page."""
    pages = {path: Page(path) for path in sorted(site.rglob("*.html"))}
    if not pages:
        yield f"{site}: expected pages, found none"
    for path, page in pages.items():
        for link in page.links + page.loaded:
            problem = problem_of(link, path, site, pages, link in page.loaded)
            if problem:
                yield f"{path.relative_to(site)}: {link}: {problem}"
    for path in sorted(site.rglob("*.css")):
        for link in re.findall(r"url\(\s*[\"']?([^\"')]+)", path.read_text(encoding="utf-8")):
            problem = problem_of(link, path, site, pages, loaded=True)
            if problem:
                yield f"{path.relative_to(site)}: {link}: {problem}"


def problem_of(link, path, site, pages, loaded):
    parts = urlsplit(link)
    if parts.scheme == "data" or parts.scheme in ("mailto", "javascript"):
        return None
    if parts.scheme or parts.netloc:
        return "loaded from another site" if loaded else None
    if parts.path.startswith("/"):
        # 404.html is shown for any address, so a server's root is all that it can name.
        return None if path.name == "404.html" else "expected a relative link"
    target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
    if target.is_dir():
        target /= "index.html"
    if not target.is_file() or site not in target.parents:
        return "no such file in the site"
    if parts.fragment and target in pages and unquote(parts.fragment) not in pages[target].anchors:
        return "no such anchor"
    return None


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    site = Path(sys.argv[1]).resolve()
    problems = list(problems_of(site))
    for problem in problems[:200]:
        print(problem)
    if problems:
        sys.exit(f"{site}: {len(problems)} broken links")
    print(f"{site}: no broken link")


if __name__ == "__main__":
    main()
