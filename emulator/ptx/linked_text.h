#pragma once

#include <span>
#include <string>

namespace halfgrad::emulator {

/// One PTX text of several that a program links as device code (`nvcc -rdc=true`).
///
/// A symbol without `.visible`, `.weak` or `.extern` belongs to its own text: it gets another name
/// where an earlier text has it too. Indices of `.file` become distinct.
std::string link_texts(std::span<const std::string> texts);

}  // namespace halfgrad::emulator
