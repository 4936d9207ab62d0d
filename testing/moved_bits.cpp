#include <halfgrad/testing/moved_bits.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <iterator>

#include <halfgrad/testing/bad_elements.h>

namespace halfgrad::testing {
namespace {

/// Gives each NaN its own payload, by the bits of a quiet NaN and a mask of the payload.
template <class Bits>
void number_each(std::vector<std::byte>& bytes, Bits quiet, Bits payload) {
  for (std::size_t at = 0; at + sizeof(Bits) <= bytes.size(); at += sizeof(Bits)) {
    Bits bits = 0;
    std::memcpy(&bits, bytes.data() + at, sizeof bits);
    const auto sign = static_cast<Bits>(Bits{1} << (8 * sizeof(Bits) - 1));
    if ((bits & static_cast<Bits>(~sign)) < quiet) continue;
    const std::size_t index = at / sizeof(Bits);
    const auto own = static_cast<Bits>(static_cast<Bits>(index * 3 + 1) & payload);
    bits = static_cast<Bits>(quiet | own | (index % 2 == 1 ? sign : Bits{0}));
    std::memcpy(bytes.data() + at, &bits, sizeof bits);
  }
}

/// Gives each NaN bits of the table, whose second entry is a signalling NaN.
template <class Bits>
void vary_each(std::vector<std::byte>& bytes, Bits infinity, Bits quiet_bit, std::size_t first,
               bool mixed, bool quiet) {
  const auto sign = static_cast<Bits>(Bits{1} << (8 * sizeof(Bits) - 1));
  const auto ones = static_cast<Bits>(~Bits{0});
  const Bits patterns[] = {static_cast<Bits>(ones & ~sign),
                           static_cast<Bits>(infinity | (quiet ? quiet_bit : Bits{0}) | 1), ones,
                           static_cast<Bits>(sign | infinity | quiet_bit)};
  for (std::size_t at = 0; at + sizeof(Bits) <= bytes.size(); at += sizeof(Bits)) {
    Bits bits = 0;
    std::memcpy(&bits, bytes.data() + at, sizeof bits);
    if (static_cast<Bits>(bits & ~sign) <= infinity) continue;
    bits = patterns[(first + (mixed ? at / sizeof(Bits) : 0)) % std::size(patterns)];
    std::memcpy(bytes.data() + at, &bits, sizeof bits);
  }
}

}  // namespace

void vary_nans(std::vector<std::byte>& bytes, DType dtype, std::size_t first, bool mixed,
               bool quiet) {
  const auto vary = [&]<class Bits>(Bits infinity, Bits quiet_bit) {
    vary_each<Bits>(bytes, infinity, quiet_bit, first, mixed, quiet);
  };
  if (dtype == kFloat64) vary(std::uint64_t{0x7ff0} << 48, std::uint64_t{8} << 48);
  if (dtype == kFloat32) vary(std::uint32_t{0x7f800000}, std::uint32_t{0x400000});
  if (dtype == kFloat16) vary(std::uint16_t{0x7c00}, std::uint16_t{0x200});
  if (dtype == kBFloat16) vary(std::uint16_t{0x7f80}, std::uint16_t{0x40});
}

void number_nans(std::vector<std::byte>& bytes, DType dtype) {
  if (dtype == kFloat32) number_each<std::uint32_t>(bytes, 0x7fc00000u, 0x003fffffu);
  if (dtype == kFloat16) number_each<std::uint16_t>(bytes, 0x7e00, 0x01ff);
  if (dtype == kBFloat16) number_each<std::uint16_t>(bytes, 0x7fc0, 0x003f);
}

std::string wrongly_moved(const KernelOp& op, const std::vector<Values>& operands,
                          const std::vector<std::vector<std::byte>>& inputs,
                          const std::vector<std::byte>& output, const Shape& sizes) {
  const auto elements = static_cast<std::size_t>(std::max<std::int64_t>(numel(sizes), 1));
  const std::size_t item = output.size() / elements;
  // The op applied to the positions of elements, counted from 1, tells where each comes from.
  const std::vector<OperandSpec> specs = op.operands({});
  std::vector<Values> positions = operands;
  std::vector<const std::byte*> origins;
  double next = 1;
  for (std::size_t i = 0; i < operands.size(); ++i) {
    if (specs[i].kind != OperandSpec::Kind::number) continue;
    for (std::size_t at = 0; at < operands[i].data.size(); ++at) {
      positions[i].data[at] = next++;
      origins.push_back(inputs[i].data() + at * item);
    }
  }
  const std::vector<Bounded> sources = op.bounded(positions, kFloat64, kFloat64, {});
  for (std::size_t i = 0; i < sources.size() && i < elements && !output.empty(); ++i) {
    const double source = sources[i].value;
    if (source < 1 || source >= next || source != std::floor(source)) continue;  // a constant
    const std::byte* const from = origins[static_cast<std::size_t>(source) - 1];
    if (std::memcmp(from, output.data() + i * item, item) == 0) continue;
    return "element " + index_tuple(static_cast<std::int64_t>(i), sizes) +
           " has other bits than the element that it is moved from: the sign of a zero or the "
           "payload of a NaN";
  }
  return {};
}

}  // namespace halfgrad::testing
