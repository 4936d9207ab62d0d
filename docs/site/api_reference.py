"""Pages of the API reference from Doxygen's XML: one for each public header, in the header's order.

A comment in a header describes the declaration below it, the further overloads that follow without
an empty line, and functions that it names. They share a section: signatures, then the comment.
"""

import re
from dataclasses import dataclass, field
from pathlib import Path
from xml.etree import ElementTree

from declarations import Header
from doxygen_text import DoxygenText

# Classes of namespaces called `detail` that users see all the same: Tensor's methods.
SHOWN_DETAILS = {"TensorMethods", "InPlaceMethods", "UnaryMethods"}
_VALUES = {"variable", "typedef", "enum"}


@dataclass
class Entity:
    """A class, a function, a value or a type, or several that share a comment."""
    kind: str
    names: list
    ids: list
    description: list
    first: int
    last: int
    code: str
    anchor: str = ""
    members: list = field(default_factory=list)

    @property
    def title(self):
        return ", ".join(dict.fromkeys(self.names))


class Reference:
    """All pages. `pages[path]` is the Markdown of `path`, relative to the folder `api`."""

    def __init__(self, xml_folder, root):
        self.root = Path(root)
        self.headers, self.about, self.entities, self.address = {}, {}, {}, {}
        self.undocumented = []
        self._members, self._compounds = {}, {}
        for path in sorted(Path(xml_folder).glob("*.xml")):
            for compound in ElementTree.parse(path).getroot().findall("compounddef"):
                self._read(compound)
        for header in self.about:
            self._collect(header)
        text = DoxygenText(self.address.get)
        self.pages = {}
        for header, entities in self.entities.items():
            self._current = header
            text = DoxygenText(lambda refid, page=header: self._relative(page, refid))
            self.pages[page_of(header)] = "\n\n".join(self._page(header, entities, text)) + "\n"

    def _read(self, compound):
        kind, name = compound.get("kind"), compound.findtext("compoundname")
        if kind == "file":
            self.about[compound.find("location").get("file")] = compound
        elif kind in ("class", "struct", "union") and compound.get("prot", "public") == "public":
            if _is_shown(name) and "<" not in name:
                place = compound.find("location")
                self._compounds.setdefault(place.get("file"), []).append(compound)
        if kind == "concept" and _is_shown(name):
            self._members.setdefault(compound.find("location").get("file"), []).append(compound)
        if (kind == "namespace" and _is_shown(name + "::x")) or kind == "file":
            for member in compound.findall("sectiondef/memberdef"):
                self._members.setdefault(member.find("location").get("file"), []).append(member)

    def _collect(self, header):
        source = self.headers[header] = Header(self.root / header)
        entities, compounds = [], {}
        for compound in self._compounds.get(header, []):
            entity = self._compound(compound, source)
            compounds[compound.findtext("compoundname")] = entity
            entities.append(entity)
        members = [m for m in self._members.get(header, []) if not self._is_inside(m, entities)]
        entities += self._grouped(members, source)
        entities.sort(key=lambda entity: entity.first)
        # A nested class is part of its class.
        for name, entity in compounds.items():
            outer = compounds.get(name.rpartition("::")[0])
            if outer:
                entities.remove(entity)
                outer.members.append(entity)
                outer.members.sort(key=lambda member: member.first)
        if not entities:
            return
        self.entities[header] = entities
        self._number(header, entities, set(), "")

    @staticmethod
    def _is_inside(member, entities):
        line = int(member.find("location").get("line"))
        return any(entity.first <= line <= entity.last for entity in entities)

    def _compound(self, compound, source):
        place = compound.find("location")
        name = compound.findtext("compoundname").rpartition("::")[2]
        first = source.first_line(int(place.get("bodystart") or place.get("line")))
        last = max(int(place.get("bodyend") or 0), first)
        public = [m for m in compound.findall("sectiondef/memberdef") if m.get("prot") == "public"]
        entity = Entity(compound.get("kind"), [name], [compound.get("id")],
                        [compound.find("briefdescription"), compound.find("detaileddescription")],
                        first, last, "")
        if all(member.get("kind") in _VALUES for member in public) and last - first < 60:
            entity.code = source.with_comments(first, last)
            entity.ids += [member.get("id") for member in public]
        else:
            entity.code = source.declaration(first)[2]
            entity.members = self._grouped(public, source)
        return entity

    def _grouped(self, members, source):
        """Entities of members, with those that follow a comment in one."""
        groups = []
        members = [m for m in members if "= delete" not in (m.findtext("argsstring") or "") and
                   "=delete" not in (m.findtext("argsstring") or "") and m.get("kind") != "friend"]
        for member in sorted(members, key=lambda m: int(m.find("location").get("line"))):
            name = re.sub(r"^.*::", "", member.findtext("name") or member.findtext("compoundname"))
            if name.startswith("@") or not name:
                continue
            entity = self._member(member, name, source)
            previous = groups[-1] if groups else None
            if previous and _shares_comment(previous, entity):
                previous.names += entity.names
                previous.ids += entity.ids
                previous.code += "\n" + entity.code
                previous.last = entity.last
            elif previous and entity.first <= previous.last:  # several names in one declaration
                previous.names += entity.names
                previous.ids += entity.ids
            else:
                groups.append(entity)
        return groups

    @staticmethod
    def _member(member, name, source):
        line = int(member.find("location").get("line"))
        descriptions = [member.find("briefdescription"), member.find("detaileddescription")]
        first, last, code = source.declaration(line)
        kind = member.get("kind")
        if kind in _VALUES or kind == "concept":
            code = source.with_comments(first, last)
            if "///<" in source.lines[first] or "///<" in source.lines[last]:
                descriptions = []
            while source.lines[last + 1].strip().startswith("///<"):
                last += 1
                code = source.with_comments(first, last)
        return Entity(kind, [name], [member.get("id")], descriptions, first, last, code)

    def _number(self, header, entities, used, outer):
        for entity in entities:
            anchor = re.sub(r"[^\w.]+", "-", outer + entity.names[0]).strip("-") or "operator"
            if entity.names[0].startswith("operator"):
                anchor = re.sub(r"[^\w.]", lambda c: f"{ord(c.group()):x}", outer + entity.names[0])
            anchor = anchor.replace("~", "")
            while anchor.lower() in used:
                anchor += "-2"
            used.add(anchor.lower())
            entity.anchor = anchor
            for refid in entity.ids:
                self.address[refid] = (header, anchor)
            self._number(header, entity.members, used, entity.names[0] + ".")

    def overview(self):
        """The page that lists all headers, each with the names that it declares."""
        blocks = ["---\ntitle: C++ API\n---\n\n# C++ API",
                  "After this page you know which header declares what you need. "
                  "`<halfgrad/halfgrad.h>` includes all of them except `eigen.h`."]
        folder = None
        for header in sorted(self.entities, key=_place):
            if header.rpartition("/")[0] != folder:
                folder = header.rpartition("/")[0]
                blocks.append(f"## {folder or 'The root'}")
                blocks.append("| header | declares |\n|---|---|")
            anchors = {}
            for entity in self.entities[header]:
                for name in entity.names:
                    anchors.setdefault(name, entity.anchor)
            names = [f"[`{name}`]({page_of(header)}#{anchor})" for name, anchor in anchors.items()]
            more = f" and {len(names) - 12} more" if len(names) > 12 else ""
            blocks[-1] += (f"\n| [{header.rpartition('/')[2]}]({page_of(header)}) "
                           f"| {', '.join(names[:12])}{more} |")
        return "\n\n".join(blocks) + "\n"

    def _relative(self, header, refid):
        if refid not in self.address:
            return None
        target, anchor = self.address[refid]
        return f"{_relative_path(page_of(header), page_of(target))}#{anchor}"

    def _page(self, header, entities, text):
        up = "../" * (page_of(header).count("/") + 1)
        yield f"---\ntitle: {header}\n---\n\n# {header}"
        yield f"``` cpp\n#include <halfgrad/{header}>\n```"
        about = self.about[header]
        yield from text.blocks(about.find("briefdescription"))
        yield from text.blocks(about.find("detaileddescription"))
        yield f"[The header's source]({up}source/{header}.md){{ .source }}"
        for entity in entities:
            yield from self._section(header, entity, text, 2, up)

    def _section(self, header, entity, text, level, up):
        blocks = [block for part in entity.description for block in text.blocks(part)]
        # An XOptions, or XArguments, is described by X.
        if not blocks and level == 2 and entity.kind in ("class", "struct") and (
                not entity.title.endswith(("Options", "Arguments"))):
            self.undocumented.append(f"{header}:{entity.first}: {entity.kind} {entity.title}")
        kind = f"{entity.kind} " if entity.kind in ("class", "struct", "enum", "concept") else ""
        title = entity.title if len(entity.title) < 70 else entity.names[0] + ", ..."
        yield (f"{'#' * level} {kind}`{title}` {{ #{entity.anchor} "
               f"data-toc-label=\"{entity.names[0]}\" }}")
        if entity.code != f"{entity.kind} {entity.title};":
            yield f"``` cpp\n{entity.code}\n```"
        yield from blocks
        for member in entity.members:
            yield from self._section(header, member, text, level + 1, up)


def _place(header):
    """Sorts by folder, and headers of the root last."""
    folder, _, name = header.rpartition("/")
    return folder == "", folder, name


def _kind(entity):
    return "function" if entity.kind == "function" else "value"


def _text(entity):
    parts = [part for part in entity.description if part is not None]
    return " ".join("".join(part.itertext()) for part in parts).strip()


def _shares_comment(previous, entity):
    """True if `entity` follows `previous` directly, and its comment, if it has one, names both."""
    if _kind(previous) != _kind(entity) or entity.first != previous.last + 1 or _text(entity):
        return False
    comment = _text(previous)
    name = entity.names[0]
    if not comment or name in previous.names:
        return True
    return re.search(rf"\b{re.escape(name)}\b", comment) is not None


def _is_shown(name):
    parts = name.split("::")
    return "detail" not in parts or parts[-1] in SHOWN_DETAILS


def page_of(header):
    return header + ".md"


def _relative_path(page, target):
    return "../" * page.count("/") + target
