"""MkDocs' hooks: the site has the paths of the repository, so that the pages' relative links work.

README.md is the home page, docs/tour.md becomes docs/tour.html, api/core/array.h.html describes a
public header, and source/core/array.h.html shows a file that a page links.
"""

import importlib.util
import logging
import os
import re
import sys
from pathlib import Path

from markdown.extensions import Extension
from markdown.treeprocessors import Treeprocessor
from markdown.util import AtomicString
from mkdocs.structure.files import File, InclusionLevel

sys.path.insert(0, os.path.dirname(__file__))
import navigation
import sources
from api_reference import Reference

ROOT = Path(__file__).resolve().parents[2]
log = logging.getLogger("mkdocs.hooks.halfgrad")


class RepositoryLinks(Treeprocessor):
    """Points links to files at the pages that show them, and names pages by their titles."""

    page = None     # path of the page that is being rendered
    shown = set()   # paths that have a page below source/
    titles = {}     # titles of pages, by path

    def run(self, root):
        for link in root.iter("a"):
            href = link.get("href", "")
            target = sources.target_of(self.page, href)
            if target in self.titles and link.text and link.text.endswith(".md") and not len(link):
                link.text = AtomicString(self.titles[target])
            if target in self.shown:
                line = re.fullmatch(r".*#L(\d+).*", href)
                anchor = f"#__codelineno-0-{line.group(1)}" if line else ""
                up = os.path.relpath(f"source/{target}.md", os.path.dirname(self.page) or ".")
                link.set("href", up + anchor)


class RepositoryLinksExtension(Extension):
    def extendMarkdown(self, md):
        # Before MkDocs' own processor, which has priority 0 and checks all links.
        md.treeprocessors.register(RepositoryLinks(md), "repository_links", 2)


def on_config(config):
    config.markdown_extensions.append(RepositoryLinksExtension())
    files = sources.repository_files(ROOT)
    config.extra["pages"] = [path for path in files if path.endswith(".md")]
    reference = Reference(os.environ["HALFGRAD_DOXYGEN_XML"], ROOT)
    for entity in reference.undocumented:
        log.warning(f"{entity} has no comment for the API reference")
    config.extra["api"] = {f"api/{page}": text for page, text in reference.pages.items()}
    config.nav = navigation.navigation(config.extra["pages"], sorted(config.extra["api"]))
    config.extra["api"]["api/index.md"] = reference.overview()
    return config


def on_files(files, config):
    """Adds the repository's pages, the API reference, and a page for each file that these link."""
    pages, api = config.extra["pages"], config.extra["api"]
    targets = set()

    def add(path, **source):
        files.append(File.generated(config, path, **source))

    for page in pages:
        add(page, abs_src_path=str(ROOT / page))
        text = (ROOT / page).read_text(encoding="utf-8")
        targets.update(sources.linked_targets(page, text))
    for page, text in api.items():
        add(page, content=text)
        targets.update(target.removeprefix("source/").removesuffix(".md")
                       for target in sources.linked_targets(page, text)
                       if target.startswith("source/"))
    mermaid = Path(importlib.util.find_spec("mermaidx").origin).parent / "assets/mermaid.js"
    add("javascripts/mermaid.js", abs_src_path=str(mermaid))
    RepositoryLinks.titles = {page: sources.title_of(ROOT / page) for page in pages}
    RepositoryLinks.shown = set()
    for target in sorted(targets - set(pages)):
        if not (ROOT / target).exists() or target.startswith("build/"):
            continue  # MkDocs reports it, if it is a link
        if sources.is_image(target) or not sources.is_text(ROOT, target):
            add(target, abs_src_path=str(ROOT / target))
            continue
        RepositoryLinks.shown.add(target)
        add(f"source/{target}.md", content=sources.source_page(ROOT, target))
        files.get_file_from_path(f"source/{target}.md").inclusion = InclusionLevel.NOT_IN_NAV
    return files


def on_page_markdown(markdown, page, config, files):
    RepositoryLinks.page = page.file.src_uri
    if page.file.src_uri.startswith("docs/"):
        page.meta.setdefault("search", {"boost": 2})
    if page.is_homepage:
        page.meta["hide"] = ["navigation"]
    return markdown


def on_page_content(html, page, config, files):
    """Gives a page without sections the whole width."""
    if not any(item.children for item in page.toc):
        page.meta["hide"] = [*page.meta.get("hide", []), "toc"]
    return html


def on_page_context(context, page, config, nav):
    """Tells theme/main.html whether the page needs the script that draws diagrams."""
    context["has_diagram"] = 'class="mermaid"' in (page.content or "")
    return context
