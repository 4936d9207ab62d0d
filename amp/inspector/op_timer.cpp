#include <halfgrad/amp/inspector/op_timer.h>

#include <algorithm>
#include <iomanip>
#include <ostream>
#include <sstream>

namespace halfgrad::amp {

std::vector<OpTime> OpTimer::times() {
  finish();
  return rows_;
}

void OpTimer::clear() {
  finish();
  rows_.clear();
  row_of_.clear();
}

void OpTimer::timed(std::span<const TimedCall> calls) {
  for (const TimedCall& call : calls) {
    const auto parent = std::find_if(calls.begin(), calls.end(), [&](const TimedCall& other) {
      return other.id == call.parent;
    });
    const std::string part_of = parent == calls.end() ? "" : parent->op;
    const Key key{call.op,          call.module,        part_of,          call.dtype,
                  call.is_backward, call.is_derivative, call.is_composite};
    const auto [found, is_new] = row_of_.try_emplace(key, rows_.size());
    if (is_new) {
      rows_.push_back({.op = call.op,
                       .module = call.module,
                       .part_of = part_of,
                       .dtype = call.dtype,
                       .is_backward = call.is_backward,
                       .is_derivative = call.is_derivative,
                       .is_composite = call.is_composite});
    }
    OpTime& row = rows_[found->second];
    ++row.calls;
    row.seconds += call.seconds;
    row.self_seconds += call.self_seconds;
    row.result_bytes += call.result_bytes;
    row.launches += call.launches;
    row.peak_live_bytes = std::max(row.peak_live_bytes, call.live_bytes);
  }
}

std::ostream& operator<<(std::ostream& out, OpTimer& timer) {
  std::ostringstream text;  // keeps the flags of `out` as they are
  const auto print = [&text](const auto& op, const auto& module, const auto& dtype,
                             const auto& direction, const auto& calls, const auto& milliseconds,
                             const auto& bytes) {
    text << std::left << std::setw(28) << op << ' ' << std::setw(16) << module << ' '
         << std::setw(9) << dtype << std::setw(9) << direction << std::right << std::setw(7)
         << calls << std::setw(12) << milliseconds << std::setw(14) << bytes << '\n';
  };
  print("op", "module", "dtype", "pass", "calls", "self ms", "result bytes");
  text << std::fixed << std::setprecision(3);
  std::vector<OpTime> rows = timer.times();
  std::stable_sort(rows.begin(), rows.end(), [](const OpTime& a, const OpTime& b) {
    return a.self_seconds > b.self_seconds;
  });
  for (const OpTime& row : rows) {
    print(row.part_of.empty() ? row.op : row.part_of + " > " + row.op, row.module,
          row.op == TimedOps::kGraphReplay ? "" : name(row.dtype),
          row.is_backward ? "backward" : "forward", row.calls, row.self_seconds * 1e3,
          row.result_bytes);
  }
  return out << text.str();
}

}  // namespace halfgrad::amp
