#include <halfgrad/emulator/checks/finding.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

namespace halfgrad::emulator {
namespace {

/// The numbers of "(x,y,z)", z first: the order in which a grid counts. "" is before all others.
std::array<long, 3> counting_order(const std::string& index) {
  std::array<long, 3> numbers{-1, -1, -1};
  const char* const end = index.data() + index.size();
  const char* next = index.data();
  for (unsigned i = 3; i-- > 0 && next < end;)
    next = std::from_chars(next + 1, end, numbers[i]).ptr;
  return numbers;
}

bool is_before(const Finding& a, const Finding& b) {
  const auto block_a = counting_order(a.block), block_b = counting_order(b.block);
  if (block_a != block_b) return block_a < block_b;
  return counting_order(a.thread) < counting_order(b.thread);
}

/// Whether two texts differ in digits only, as "stream 7" and "stream 9" do.
bool same_words(const std::string& a, const std::string& b) {
  const auto without_digits = [](std::string text) {
    std::erase_if(text, [](char c) { return c >= '0' && c <= '9'; });
    return text;
  };
  return without_digits(a) == without_digits(b);
}

bool same_place(const Finding& a, const Finding& b) {
  if (a.kind != b.kind || a.severity != b.severity || a.kernel != b.kernel) return false;
  if (a.source_line != b.source_line || a.source_file != b.source_file) return false;
  if (a.inlined_at != b.inlined_at) return false;
  if (a.source_line == 0 && a.ptx_line != b.ptx_line) return false;
  if (!a.kernel.empty()) return true;  // calls have no line
  if (a.message == b.message && a.called_at == b.called_at) return true;
  // A program that makes streams in a loop repeats one race of copies with other streams.
  return a.kind == FindingKind::stream_race && same_words(a.message, b.message) &&
         same_words(a.other, b.other) && same_words(a.allocation, b.allocation);
}

}  // namespace

const char* finding_name(FindingKind kind) {
  switch (kind) {  // clang-format off
    case FindingKind::out_of_bounds: return "out-of-bounds";
    case FindingKind::misaligned: return "misaligned";
    case FindingKind::use_after_free: return "use-after-free";
    case FindingKind::race: return "race";
    case FindingKind::stream_race: return "stream-race";
    case FindingKind::uninitialised: return "uninitialised";
    case FindingKind::barrier: return "barrier";
    case FindingKind::warp_sync: return "warp-sync";
    case FindingKind::async_copy: return "async-copy";
    case FindingKind::deadlock: return "deadlock";
    case FindingKind::trap: return "trap";
    case FindingKind::assertion: return "assertion";
    case FindingKind::unknown_instruction: return "unknown-instruction";
    case FindingKind::unknown_function: return "unknown-function";
    case FindingKind::host_access: return "host-access";
    case FindingKind::capture: return "capture";
    case FindingKind::leak: return "leak";
    case FindingKind::unchecked_error: return "unchecked-error";
    case FindingKind::invalid_call: return "invalid-call";
  }  // clang-format on
  return "finding";
}

std::string to_string(const Finding& finding) {
  std::string text = finding.severity == Severity::note ? "note: " : "error: ";
  text += std::string(finding_name(finding.kind)) + ": " + finding.message;
  if (!finding.source_file.empty()) {
    text += "\n  at " + finding.source_file + ":" + std::to_string(finding.source_line);
    if (!finding.inlined_at.empty()) text += ", inlined at " + finding.inlined_at;
  } else if (finding.ptx_line != 0) {
    text += "\n  at PTX line " + std::to_string(finding.ptx_line) + " (compile with -lineinfo)";
  }
  if (!finding.instruction.empty()) text += ": " + finding.instruction;
  if (!finding.kernel.empty()) text += "\n  in kernel " + finding.kernel;
  if (!finding.block.empty()) text += ", block " + finding.block;
  if (!finding.thread.empty()) text += ", thread " + finding.thread;
  if (!finding.other.empty()) text += "\n  against " + finding.other;
  if (!finding.called_at.empty()) text += "\n  called at " + finding.called_at;
  if (!finding.allocation.empty()) text += "\n  memory: " + finding.allocation;
  if (finding.count > 1) text += "\n  seen " + std::to_string(finding.count) + " times";
  return text + "\n";
}

void FindingLog::add(Finding finding) {
  if (completer_ != nullptr) completer_(finding);
  const std::lock_guard lock(mutex_);
  const auto known = std::find_if(findings_.begin(), findings_.end(),
                                  [&](const Finding& other) { return same_place(finding, other); });
  if (known == findings_.end()) {
    if (listener_ != nullptr) listener_(finding);
    findings_.push_back(std::move(finding));
    return;
  }
  const std::uint64_t count = known->count + finding.count;
  if (is_before(finding, *known)) *known = std::move(finding);
  known->count = count;
}

std::vector<Finding> FindingLog::all() const {
  const std::lock_guard lock(mutex_);
  return findings_;
}

bool FindingLog::has_errors() const {
  const std::lock_guard lock(mutex_);
  return std::any_of(findings_.begin(), findings_.end(),
                     [](const Finding& finding) { return finding.severity == Severity::error; });
}

}  // namespace halfgrad::emulator
