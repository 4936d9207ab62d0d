# Filter of Doxygen for halfgrad's headers. Every line keeps its number, since Doxygen reports them.
#
# 1. A `///` comment directly above the first `namespace` describes the file: the empty line above
#    it becomes `/// @file`.
# 2. Specialisations of std::hash become empty: Doxygen does not find namespace std.
# 3. Indented lines of a comment are code or an equation: @code and @endcode keep their line breaks.
#    Doxygen changes the spaces at the beginning of a line, so `|` marks where each line begins.

function indent_of(text) {
  match(text, /^ */)
  return RLENGTH
}

# Prints the comment that is held back. `describes_file`: the next line opens a namespace.
function flush_comment(describes_file,    i, in_code, in_list, text) {
  if (blank_before) print describes_file ? "/// @file" : ""
  in_code = in_list = 0
  for (i = 1; i <= held; i++) {
    text = comment[i]
    sub(/^ *\/\/\//, "", text)
    if (indent_of(text) < 2 && text != "") in_list = text ~ /^ ([*-]|[0-9]+\.) /
    code[i] = indent_of(text) >= 3 && !in_list
  }
  for (i = 1; i <= held; i++) {
    if (code[i]) sub(/\/\/\//, "/// " (code[i - 1] ? "" : "@code{.cpp}") "|", comment[i])
    print comment[i] (code[i] && !code[i + 1] ? " @endcode" : "")
    code[i - 1] = 0
  }
  code[held] = held = blank_before = 0
}

/^struct std::hash</ { in_hash = 1 }
in_hash {
  in_hash = !/^};/
  $0 = "//"
}
/^ *\/\/\/([^\/<]|$)/ {
  comment[++held] = $0
  next
}
{
  if (held > 0) {
    flush_comment(!seen_namespace && /^namespace /)
  } else if (blank_before) {
    print ""
  }
  if (/^namespace /) seen_namespace = 1
  blank_before = /^$/
  if (!blank_before) print
}
END {
  flush_comment(0)
}
