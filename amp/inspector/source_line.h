#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace halfgrad::detail {

/// The return addresses of this thread's calls, innermost first. Empty where the C library cannot
/// tell.
std::vector<void*> call_stack();

/// Returns the place of the innermost call outside the namespaces halfgrad and std:
/// "train.cpp:41 in train(int)". The last `outer` addresses are skipped.
///
/// The line comes from the program addr2line, and needs a program that was compiled with -g.
/// Otherwise the result is the function alone, "in train(int)", or "" if that is not known either.
/// Never throws for want of a tool.
std::string source_line(std::vector<void*> stack, std::size_t outer = 0);

/// True for the linker's name of a function in namespace halfgrad or std: "_ZN8halfgrad3addE...".
/// An inlined function may have its plain name alone; then its file,
/// "include/halfgrad/nn/module.h", tells.
bool is_library_function(const std::string& mangled, const std::string& file);

}  // namespace halfgrad::detail
