"""Makes the stubs of a folder fit for mypy and for scripts; nanobind writes them from the bindings.

* Names Python's types, dtype and NumPy's array in full where the class Tensor has members of these
  names.
* A device may be text. A Python object that C++ returns is Any. A Module has any attribute.
"""

import pathlib
import re
import sys

ALIASES = "import builtins\n"


def qualified(line: str) -> str:
    """Rewrites the annotations of one line of a signature."""
    if not re.match(r"\s*def |\s+\w+: ", line):
        return line
    line = re.sub(r"(?<=[ \[])(?<!def )(bool|int|float)(?=$|[ ,\])|:\n])", r"builtins.\1", line)
    return re.sub(r"(?<=: )(dtype|device)(?=[ ,)|=])|(?<=-> )(dtype|device)(?=:)", r"_\1\2", line)


def with_qualified_names(text: str) -> str:
    if ALIASES in text:
        return text
    head, rest = text.split("class Tensor:", 1)
    rest = "".join(qualified(line) for line in rest.splitlines(keepends=True))
    head = head.replace("from collections", ALIASES + "from collections", 1)
    rest = rest.replace("numpy.ndarray", "_array")  # numpy is a method of Tensor
    number = "builtins.bool | builtins.int | builtins.float"
    rest = rest.replace("def item(self) -> object:", f"def item(self) -> {number}:")
    return f"{head}_dtype = dtype\n_device = device\n_array = numpy.ndarray\n\nclass Tensor:{rest}"


def usable(text: str) -> str:
    text = re.sub(r": ((?:halfgrad\._halfgrad\.)device|_device)(?! \| str)(?=[ ,)])",
                  r": \1 | str", text)
    if "-> object:" in text:
        text = text.replace("-> object:", "-> typing.Any:")
        if not re.search("^import typing$", text, re.M):
            text = re.sub(r"^(?=import |from )", "import typing\n", text, count=1, flags=re.M)
    # Attributes that a module gets in __init__() of its class have any type.
    text = re.sub(r'(class Module:\n    """[^"]*"""\n)(?!\n    def __getattr__)',
                  r"\1\n    def __getattr__(self, name: str, /) -> typing.Any: ...\n", text)
    # Comparisons of tensors return tensors, which mypy refuses without this comment.
    text = re.sub(r"( +@overload)(?=\n +def __(eq|ne)__)", r"\1  # type: ignore[override]", text)
    # NumPy's arrays compare themselves with any object.
    text = re.sub(r"( +def __(?:lt|le|gt|ge)__\(self, other: _array\) -> Tensor: ...)$",
                  r"\1  # type: ignore[misc]", text, flags=re.M)
    return re.sub(r"( +def __eq__\(self, arg: (?:device|Stream), /\) -> bool: ...)$",
                  r"\1  # type: ignore[override]", text, flags=re.M)


def main() -> None:
    folder = pathlib.Path(sys.argv[1])
    for path in sorted(folder.rglob("*.pyi")):
        if path.name in ("_checking.pyi", "_reference.pyi"):
            continue  # halfgrad.checking and halfgrad.reference have types of their own
        text = path.read_text()
        if path.parent == folder and path.name == "__init__.pyi":
            text = with_qualified_names(text)
        path.write_text(usable(text))


main()
