"""Doxygen's description of an entity (XML) as Markdown."""

import re
import textwrap
from xml.etree.ElementTree import Element

# Characters that Markdown or HTML would read as markup, and their entities.
_SPECIAL = re.compile(r"[\\`*_{}\[\]<>|#&~^=+]")
_WRAPPED = {"bold": "**", "emphasis": "*"}
_NOTES = {"note": "Note", "return": "Returns", "see": "See also", "since": "Since",
          "warning": "Warning", "remark": "Remark", "attention": "Attention"}


def escaped(text):
    """Plain text that Markdown shows as it is."""
    return _SPECIAL.sub(lambda match: f"&#{ord(match.group())};", text)


class DoxygenText:
    """Converts descriptions. `link(refid)` is the address of an entity, or None."""

    def __init__(self, link):
        self._link = link

    def blocks(self, element):
        """The paragraphs, lists and code blocks of <briefdescription> or <detaileddescription>."""
        if element is None:
            return []
        return [block for para in element.findall("para") for block in self._para(para)]

    def _para(self, para):
        blocks, line = [], escaped(para.text or "")
        for child in para:
            block = self._block(child)
            if block is None:
                line += self._inline(child)
            else:
                blocks += [line.strip(), block]
                line = ""
            line += escaped(child.tail or "")
        return [block for block in blocks + [line.strip()] if block]

    def _block(self, element):
        """A child of a paragraph that starts a block of its own, or None."""
        if element.tag in ("programlisting", "verbatim"):
            return f"``` cpp\n{_code(element)}\n```"
        if element.tag in ("itemizedlist", "orderedlist"):
            mark = "* " if element.tag == "itemizedlist" else "1. "
            return "\n".join(self._item(item, mark) for item in element.findall("listitem"))
        if element.tag == "simplesect":
            text = "\n\n".join(self.blocks(element))
            return f"**{_NOTES.get(element.get('kind'), element.get('kind'))}:** {text}"
        if element.tag == "parameterlist":
            return "\n".join(self._parameter(item) for item in element.findall("parameteritem"))
        if element.tag == "blockquote":
            return textwrap.indent("\n\n".join(self.blocks(element)), "> ")
        return None

    def _item(self, item, mark):
        text = "\n\n".join(self.blocks(item))
        return mark + textwrap.indent(text, "    ").lstrip()

    def _parameter(self, item):
        names = ", ".join("".join(name.itertext()) for name in item.iter("parametername"))
        text = " ".join(self.blocks(item.find("parameterdescription")))
        return f"* `{names}`: {text}"

    def _inline(self, element):
        text = "".join(element.itertext())
        if element.tag == "computeroutput":
            ref = element.find("ref")
            return self._linked(f"`{text}`", ref) if ref is not None else f"`{text}`"
        if element.tag == "ref":
            return self._linked(f"`{text}`", element)
        if element.tag == "ulink":
            return f"[{escaped(text)}]({element.get('url')})"
        if element.tag in _WRAPPED:
            return _WRAPPED[element.tag] + escaped(text) + _WRAPPED[element.tag]
        if element.tag == "linebreak":
            return "<br>"
        return escaped(_characters(element) or text)

    def _linked(self, text, ref):
        address = self._link(ref.get("refid"))
        return f"[{text}]({address})" if address else text


def _characters(element):
    """The character that an empty element such as <ndash/> stands for."""
    named = {"ndash": "–", "mdash": "—", "lsquo": "‘", "rsquo": "’", "times": "×", "plusmn": "±",
             "le": "≤", "ge": "≥", "deg": "°", "micro": "µ", "nonbreakablespace": "\u00a0", "sp": " "}
    return named.get(element.tag, "")


def _code(element):
    """The lines of a listing, with the indentation that they share removed."""
    if element.tag == "verbatim":
        return textwrap.dedent(element.text or "").strip("\n")
    lines = [_line(line).rstrip() for line in element.iter("codeline")]
    lines = [re.sub(r"^ *\|", "", line) for line in lines]  # comments.awk
    return textwrap.dedent("\n".join(lines)).strip("\n")


def _line(element: Element):
    text = element.text or ""
    for child in element:
        text += (" " if child.tag == "sp" else _line(child)) + (child.tail or "")
    return text
