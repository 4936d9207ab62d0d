// PTX ISA, "Video Instructions": vadd vsub vabsdiff vmin vmax on words, and on 2 halves or 4 bytes
// of words. Selectors and masks of the SIMD forms are unknown.

#include <halfgrad/emulator/ptx/instructions/pages.h>
#include <halfgrad/emulator/ptx/instructions/selection.h>
#include <halfgrad/emulator/ptx/instructions/video_selectors.h>

#include <algorithm>

namespace halfgrad::emulator {
namespace {

enum class VideoOperation : std::uint8_t { add, subtract, absolute_difference, minimum, maximum };
/// Second operation of the instruction, which combines the first one's result with operand c.
enum class Second : std::uint8_t { none, add, minimum, maximum };

struct VideoForm {
  VideoOperation operation;
  Second second;
  std::uint8_t bits;  ///< bits of a part: 8, 16 or 32
  bool signed_result, signed_a, signed_b, saturated;
};

std::int64_t part_of_word(std::uint32_t x, unsigned first, unsigned bits, bool is_signed) {
  const std::uint32_t top = x << (32 - bits - first);
  if (is_signed) return static_cast<std::int32_t>(top) >> (32 - bits);
  return top >> (32 - bits);
}

std::int64_t compute(VideoOperation operation, std::int64_t a, std::int64_t b) {
  switch (operation) {
    case VideoOperation::add:
      return a + b;
    case VideoOperation::subtract:
      return a - b;
    case VideoOperation::absolute_difference:
      return a < b ? b - a : a - b;
    case VideoOperation::minimum:
      return std::min(a, b);
    default:
      return std::max(a, b);
  }
}

std::int64_t saturated(std::int64_t x, unsigned bits, bool is_signed) {
  const std::int64_t lowest = is_signed ? -(std::int64_t{1} << (bits - 1)) : 0;
  return std::clamp(x, lowest, (std::int64_t{1} << (bits - is_signed)) - 1);
}

std::uint32_t combine_video(const VideoForm& form, std::uint32_t result, std::uint32_t c) {
  const bool is_signed = form.signed_result;
  const std::int64_t x = part_of_word(result, 0, 32, is_signed),
                     y = part_of_word(c, 0, 32, is_signed);
  switch (form.second) {
    case Second::add:
      return result + c;
    case Second::minimum:
      return static_cast<std::uint32_t>(std::min(x, y));
    case Second::maximum:
      return static_cast<std::uint32_t>(std::max(x, y));
    default:
      return result;
  }
}

std::uint32_t evaluate_video(const VideoForm& form, std::uint32_t a, std::uint32_t b,
                             std::uint32_t c) {
  const bool sums = form.bits < 32 && form.second == Second::add;
  std::uint32_t result = sums ? c : 0;
  for (unsigned first = 0; first < 32; first += form.bits) {
    std::int64_t x = compute(form.operation, part_of_word(a, first, form.bits, form.signed_a),
                             part_of_word(b, first, form.bits, form.signed_b));
    if (form.saturated) x = saturated(x, form.bits, form.signed_result);
    const auto kept = static_cast<std::uint32_t>(x);
    const std::uint32_t field = form.bits == 32 ? ~0u : (1u << form.bits) - 1;
    result = sums ? result + kept : result | (kept & field) << first;
  }
  return form.bits == 32 ? combine_video(form, result, c) : result;
}

void run_video(Execution& execution, const Instruction& instruction) {
  const VideoForm form = instruction.options<VideoForm>();
  using Word = std::uint32_t;
  compute_lanes<Word, Word, Word, Word>(
      execution, instruction,
      [form](Word a, Word b, Word c) { return evaluate_video(form, a, b, c); },
      std::index_sequence<0, 1, 2>{});
}

VideoOperation operation_named(const Encoder& encoder, std::string_view name) {
  if (name == "vadd") return VideoOperation::add;
  if (name == "vsub") return VideoOperation::subtract;
  if (name == "vabsdiff") return VideoOperation::absolute_difference;
  if (name == "vmin") return VideoOperation::minimum;
  if (name == "vmax") return VideoOperation::maximum;
  encoder.unknown("no such video instruction");
}

Second second_named(const Statement& statement) {
  if (statement.has("add")) return Second::add;
  if (statement.has("min")) return Second::minimum;
  return statement.has("max") ? Second::maximum : Second::none;
}

}  // namespace

void video(Encoder& encoder) {
  const Statement& statement = encoder.statement;
  std::string_view name = statement.opcode;
  const char last = name.back();
  const bool simd = last == '2' || last == '4';
  if (!simd && has_selectors(statement)) return video_scalar(encoder);
  only_modifiers(encoder, {"sat", "add", "min", "max"});
  if (simd) name.remove_suffix(1);
  if (type_count(statement) != 3) encoder.unknown("expected three types");
  const Second second = second_named(statement);
  if (simd && second != Second::none && second != Second::add) encoder.unknown("expected .add");
  encoder.instruction.set_options(VideoForm{.operation = operation_named(encoder, name),
                                            .second = second,
                                            .bits = static_cast<std::uint8_t>(last == '2'   ? 16
                                                                              : last == '4' ? 8
                                                                                            : 32),
                                            .signed_result = is_signed(statement.type(2)),
                                            .signed_a = is_signed(statement.type(1)),
                                            .signed_b = is_signed(statement.type()),
                                            .saturated = statement.has("sat")});
  const bool has_c = simd || second != Second::none;
  require_operands(encoder, has_c ? 4 : 3);
  encoder.destination(0, Type::b32);
  encoder.source(1, Type::b32);
  encoder.source(2, Type::b32);
  encoder.source(has_c ? 3 : 2, Type::b32);
  execute_with(encoder, &run_video);
}

}  // namespace halfgrad::emulator
