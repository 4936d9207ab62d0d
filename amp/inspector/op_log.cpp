#include <halfgrad/amp/inspector/op_log.h>

#include <algorithm>
#include <cstddef>
#include <iomanip>
#include <iterator>
#include <optional>
#include <ostream>
#include <sstream>
#include <string_view>
#include <utility>

#include <halfgrad/amp/autocast.h>

namespace halfgrad::amp {
namespace {

int autocast_depth() {
  const auto* rule = dynamic_cast<const detail::AutocastRule*>(detail::cast_rule);
  return rule == nullptr ? 0 : rule->depth;
}

std::string title(const OpRecord& record) {
  return record.op + " (" + std::string(name(record.precision)) + ")";
}

}  // namespace

std::int64_t OperandRecord::bytes_cast() const {
  return cast == OperandCast::made ? numel * (item_size(given) + item_size(read)) : 0;
}

DType OpRecord::run_dtype() const {
  const bool has_array = std::ranges::any_of(operands, [](const OperandRecord& operand) {
    return operand.dim > 0 && is_floating_point(operand.read);
  });
  DType widest = result;
  bool any = false;
  for (const OperandRecord& operand : operands) {
    if (!is_floating_point(operand.read) || (has_array && operand.dim == 0)) continue;
    widest = any ? promote_types(widest, operand.read) : operand.read;
    any = true;
  }
  return widest;
}

bool OpRecord::is_promoted() const {
  if (precision != Precision::any && precision != Precision::widest_operand) return false;
  const auto has = [this](auto&& accepts) {
    return std::any_of(operands.begin(), operands.end(),
                       [&](const OperandRecord& operand) { return accepts(operand.given); });
  };
  return has(is_reduced) && has([](DType given) { return given == kFloat; }) &&
         run_dtype() == kFloat;
}

std::string explain(const OpRecord& record) {
  std::ostringstream text;
  text << title(record);
  if (!record.module.empty()) text << " in " << record.module;
  text << ": ran in " << record.run_dtype();
  const char* separator = "; ";
  for (std::size_t i = 0; i < record.operands.size(); ++i) {
    const OperandRecord& operand = record.operands[i];
    if (operand.cast == OperandCast::none && operand.parameter.empty()) continue;
    text << separator << "operand " << i;
    if (!operand.parameter.empty()) text << ", " << operand.parameter << ",";
    if (operand.cast == OperandCast::none) {
      text << " as it is";
    } else {
      text << " converted from " << operand.given;
      if (operand.cast == OperandCast::cached) text << " before: the copy is cached";
    }
  }
  if (record.depth > 1) text << "; in " << record.depth << " nested autocast regions";
  if (record.is_promoted()) text << "; a float32 operand beside 16-bit ones decided the dtype";
  return text.str();
}

void OpLog::clear() {
  step_ = 0;
  records_.clear();
  conversions_.clear();
}

// A conversion that was recorded, and that no op has read yet, becomes part of this call.
OperandCast OpLog::cast_of(const Tensor& given, const Tensor& read) {
  if (given.is_same(read) || given.dtype() == read.dtype()) return OperandCast::none;
  for (std::size_t i = conversions_.size(); i-- > 0;) {
    if (conversions_[i].copy.lock() != read.impl()) continue;
    const std::size_t record = conversions_[i].record;
    records_.erase(records_.begin() + static_cast<std::ptrdiff_t>(record));
    conversions_.erase(conversions_.begin() + static_cast<std::ptrdiff_t>(i));
    for (std::size_t k = i; k < conversions_.size(); ++k) --conversions_[k].record;
    return OperandCast::made;
  }
  return OperandCast::cached;
}

void OpLog::ran(const OpCall& call) {
  if (call.in_backward) return;
  OpRecord record{.op = call.op,
                  .precision = call.precision,
                  .module = model_.running_module(),
                  .operands = {},
                  .result = call.result.dtype(),
                  .depth = autocast_depth(),
                  .is_composite = call.is_composite,
                  .step = step_};
  for (std::size_t i = 0; i < call.inputs.size(); ++i) {
    const Tensor &given = call.inputs[i], &read = call.operands[i];
    if (!given.defined()) continue;
    record.operands.push_back({.given = given.dtype(),
                               .read = read.dtype(),
                               .cast = cast_of(given, read),
                               .numel = given.numel(),
                               .dim = given.dim(),
                               .parameter = model_.name_of(given)});
  }
  if (record.op == "to") conversions_.push_back({records_.size(), call.result.impl()});
  records_.push_back(std::move(record));
}

namespace {

std::vector<OpSummary> summary_of(const std::vector<OpRecord>& records,
                                  std::optional<std::int64_t> step) {
  std::vector<OpSummary> rows;
  for (const OpRecord& record : records) {
    if (step && record.step != *step) continue;
    const DType dtype = record.run_dtype();
    auto row = std::find_if(rows.begin(), rows.end(), [&](const OpSummary& known) {
      return known.op == record.op && known.run_dtype == dtype;
    });
    if (row == rows.end()) {
      rows.push_back({.op = record.op, .precision = record.precision, .run_dtype = dtype});
      row = rows.end() - 1;
    }
    ++row->calls;
    row->promoted += record.is_promoted();
    for (const OperandRecord& operand : record.operands) {
      row->casts_made += operand.cast == OperandCast::made;
      row->casts_cached += operand.cast == OperandCast::cached;
      row->bytes_cast += operand.bytes_cast();
    }
  }
  return rows;
}

}  // namespace

std::vector<OpSummary> OpLog::summary() const { return summary_of(records_, {}); }

std::vector<OpSummary> OpLog::summary(std::int64_t step) const {
  return summary_of(records_, step);
}

std::vector<OpRecord> OpLog::promoted(std::int64_t step) const {
  std::vector<OpRecord> found;
  std::copy_if(
      records_.begin(), records_.end(), std::back_inserter(found),
      [step](const OpRecord& record) { return record.step == step && record.is_promoted(); });
  return found;
}

std::ostream& operator<<(std::ostream& out, const OpLog& log) {
  const auto row = [&out](const auto& op, const auto& precision, const auto& dtype,
                          const auto& calls, const auto& made, const auto& cached,
                          const auto& bytes) {
    out << std::left << std::setw(24) << op << std::setw(17) << precision << std::setw(9) << dtype
        << std::right << std::setw(6) << calls << std::setw(7) << made << std::setw(8) << cached
        << std::setw(13) << bytes << '\n';
  };
  row("op", "class", "ran in", "calls", "casts", "cached", "bytes cast");
  for (const OpSummary& op : log.summary()) {
    row(op.op, name(op.precision), name(op.run_dtype), op.calls, op.casts_made, op.casts_cached,
        op.bytes_cast);
  }
  std::vector<std::pair<std::string, std::int64_t>> promoted;  // text, number of calls
  for (const OpRecord& record : log.records()) {
    if (!record.is_promoted()) continue;
    const std::string text = explain(record);
    const auto known = std::find_if(promoted.begin(), promoted.end(),
                                    [&](const auto& line) { return line.first == text; });
    known != promoted.end() ? ++known->second : promoted.emplace_back(text, 1).second;
  }
  for (const auto& [text, calls] : promoted) {
    out << text;
    if (calls > 1) out << " (" << calls << " calls)";
    out << '\n';
  }
  return out;
}

}  // namespace halfgrad::amp
