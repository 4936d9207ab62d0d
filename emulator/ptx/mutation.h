#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>

namespace halfgrad::emulator {

struct Location;
struct ModuleIndex;
struct Statement;

/// Kinds of mutants: changes of one source line of a kernel, each like a mistake that programmers
/// make. A test is good if it fails on them (DeMillo, Lipton, Sayward, "Hints on Test Data
/// Selection", IEEE Computer 11(4), 1978).
enum class MutantKind : std::uint8_t {
  barrier,    ///< a barrier, a fence or a wait for copies or products is left out
  bound,      ///< `<` and `<=`, or `>` and `>=`, are exchanged between integers
  threshold,  ///< the same between floating-point values
  sign,       ///< + and - are exchanged between floating-point values, also in a fused a b + c
  extremum,   ///< the minimum and the maximum are exchanged
  store,      ///< a store to global or shared memory is left out
  count
};
const char* mutant_name(MutantKind kind);

/// The opcode of a b - c, into which a mutant changes `fma`. It cannot be written in PTX, which has
/// `fma` of a negated c instead.
inline constexpr std::string_view kMultiplySubtract = "fma-";

/// A line of the CUDA source, or of the PTX with file "" if compiled without -lineinfo.
struct SourceLine {
  std::string file;
  unsigned line = 0;

  friend bool operator<(const SourceLine& a, const SourceLine& b) {
    return std::tie(a.file, a.line) < std::tie(b.file, b.line);
  }
};

/// One mutant: all instructions of the kind at that line are changed, in every kernel.
struct Mutant {
  SourceLine at;  ///< the end of the file's path is enough, such as "reduce.cu"
  MutantKind kind = MutantKind::barrier;

  friend bool operator<(const Mutant& a, const Mutant& b) {
    return std::tie(a.at, a.kind) < std::tie(b.at, b.kind);
  }
  bool is_at(const std::optional<SourceLine>& place) const;
};

/// Reads "barrier:reduce.cu:31". Throws std::invalid_argument.
Mutant parse_mutant(std::string_view text);
std::string to_string(const Mutant& mutant);

/// The mutant's kind that changes a statement; nullopt: none does.
std::optional<MutantKind> mutant_kind(const Statement& statement);

/// The line that a mutant names for a statement: the program's own line that calls it, if it comes
/// from a header of the system or of the CUDA Toolkit. nullopt: a kernel of such a header.
std::optional<SourceLine> mutant_place(const ModuleIndex& index, const Location& location);

/// Changes a statement of that kind. Returns whether it must be left out instead.
bool mutate(Statement& statement, MutantKind kind);

}  // namespace halfgrad::emulator
