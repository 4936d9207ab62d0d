"""The numbers that a text quotes, and whether they are the program's.

    stalls at 2048<!--stall_fp16-->, a share of 12.5 %<!--share-->, 2^-24<!--smallest-->, `float16`<!--dtype-->

`<!--given-->` stands after a number that no program computes, such as a year.
"""
import re

NUMBER = (r"[-+\u2212]?(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?(?:e[-+]?\d+)?"
          r"(?:\s*(?:x|\u00d7)\s*(?:10|2)\^[-+\u2212]?\d+|\^[-+\u2212]?\d+)?")
# A number or a word in code font, with what may stand between it and its fact: a unit, an end of emphasis.
QUOTE = re.compile(rf"(?:`(?P<code>[^`\n]+)`|(?P<number>(?:{NUMBER})|\b(?:inf|nan)\b))"
                   r"(?P<unit>\**\)?(?:\s?%|\s(?:bits?|bytes|steps?))?\**)<!--(?P<fact>[a-z0-9_]+)-->")
COMMENT = re.compile(r"<!--([a-z0-9_]*)-->")
PLAIN = re.compile(r"(?<![\w.\-/#])(?:\d+(?:,\d{3})*\.\d+(?:e[-+]?\d+)?|\d{1,3}(?:,\d{3})+|\d{3,})(?![\w.]*\w)")


def value_of(text):
    """(value, half a unit of the last digit that is written) of a number in a text."""
    text = text.replace("\u2212", "-").replace("\u00d7", "x").replace(",", "").replace(" ", "")
    power = re.fullmatch(r"([-+]?)(2|10)\^([-+]?\d+)", text)
    if power:
        value = float(power[2]) ** int(power[3])
        return (-value if power[1] == "-" else value), 0.0
    factor = 1.0
    product = re.fullmatch(r"(.*)x(2|10)\^([-+]?\d+)", text)
    if product:
        text, factor = product[1], float(product[2]) ** int(product[3])
    value = float(text)
    mantissa, _, exponent = text.partition("e")
    decimals = len(mantissa.partition(".")[2])
    half = 0.5 * 10.0 ** (int(exponent or 0) - decimals)
    return value * factor, half * factor


def agrees(quoted, fact):
    """Whether a number, as the text rounds it, is the fact."""
    try:
        true = float(fact)
    except ValueError:
        return quoted == fact
    try:
        value, half = value_of(quoted)
    except ValueError:
        return quoted == fact
    if true != true or value != value:
        return true != true and value != value
    return value == true or abs(value - true) <= half * (1 + 1e-9) + 1e-12 * abs(true)


def _blanked(pattern, text):
    """The text with what the pattern finds replaced by spaces, so that lines keep their numbers."""
    return re.sub(pattern, lambda found: re.sub(r"[^\n]", " ", found[0]), text, flags=re.MULTILINE | re.DOTALL)


def problems(text, facts, name):
    """Lines that say which quoted numbers are wrong, unknown, or have no fact."""
    found = []
    prose = _blanked(r"^(?: {4}|\t).*?$", _blanked(r"^```.*?^```", text))  # without code and equations

    def line_of(position):
        return f"{name}:{text.count(chr(10), 0, position) + 1}"

    quoted = set()
    for quote in QUOTE.finditer(prose):
        quoted.add(quote.end())
        fact, number = quote["fact"], quote["code"] or quote["number"]
        if fact == "given":
            continue
        if fact not in facts:
            found.append(f"{line_of(quote.start())}: the text quotes {number} as {fact}, which the program does not "
                         "print")
        elif not agrees(number, facts[fact]):
            found.append(f"{line_of(quote.start())}: the text says {number}, the program {fact} = {facts[fact]}")
    for comment in COMMENT.finditer(prose):
        if comment.end() not in quoted:
            found.append(f"{line_of(comment.start())}: expected a number or `code` before {comment[0]}")
    prose = QUOTE.sub(lambda quote: " " * len(quote[0]), prose)
    for pattern in (r"<!--.*?-->", r"`[^`\n]+`", r"!?\[[^\]]*\]\([^)\n]*\)", r"^#.*?$", r"<[^>\n]*>"):
        prose = _blanked(pattern, prose)
    for number in PLAIN.finditer(prose):
        found.append(f"{line_of(number.start())}: {number[0]} has no fact: write {number[0]}<!--name_of_fact-->, or "
                     "code font")
    return found


def output_problems(text, program, output, name):
    """Lines of fenced blocks that begin with `$ PROGRAM` and are not lines of the program's output, in this order."""
    found = []
    for block in re.finditer(r"^```\w*\n\$ (\S*)(.*?)^```", text, re.MULTILINE | re.DOTALL):
        if block[1].rsplit("/", 1)[-1] != program:
            continue
        rest = output.split("\n")
        first = text.count("\n", 0, block.start(2)) + 1
        for number, line in enumerate(block[2].split("\n")[1:-1], first + 1):
            if line.strip() in ("", "..."):
                continue
            if line.rstrip() not in [other.rstrip() for other in rest]:
                found.append(f"{name}:{number}: the program does not print the line: {line}")
                break
            rest = rest[[other.rstrip() for other in rest].index(line.rstrip()) + 1:]
    return found
