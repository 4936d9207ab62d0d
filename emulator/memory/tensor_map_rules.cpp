// Rules of cuTensorMapEncodeTiled (CUDA driver API, "Tensor Map Object Management"). A driver only
// says that a value is invalid; the messages here name the rule.
#include <halfgrad/emulator/memory/tensor_map.h>

#include <halfgrad/emulator/memory/access_site.h>

namespace halfgrad::emulator {
namespace {

// Values of the driver's enumerations.
constexpr unsigned kLastElement = 9, kLastType = 15;
constexpr unsigned kLastInterleave = 2, kLastSwizzle = 6, kLastPromotion = 3;
constexpr const char* kTypes[] = {"UINT8",        "UINT16",       "UINT32",        "INT32",
                                  "UINT64",       "INT64",        "FLOAT16",       "FLOAT32",
                                  "FLOAT64",      "BFLOAT16",     "FLOAT32_FTZ",   "TFLOAT32",
                                  "TFLOAT32_FTZ", "16U4_ALIGN8B", "16U4_ALIGN16B", "16U6_ALIGN16B"};

[[noreturn]] void refuse(const std::string& why) { throw std::invalid_argument(why); }

void expect(bool holds, const std::string& rule, std::uint64_t got) {
  if (!holds) refuse("expected " + rule + ", got " + std::to_string(got));
}

std::string at(const char* array, unsigned i) {
  return std::string(array) + "[" + std::to_string(i) + "]";
}

bool is_floating(TensorElement element) {
  return element == TensorElement::f16 || element == TensorElement::bf16 ||
         element == TensorElement::f32 || element == TensorElement::f64;
}

void check_enumerations(const TensorMapArguments& arguments) {
  expect(arguments.type <= kLastType, "a tensorDataType of CUtensorMapDataType", arguments.type);
  expect(arguments.interleave <= kLastInterleave, "an interleave of CUtensorMapInterleave",
         arguments.interleave);
  expect(arguments.swizzle <= kLastSwizzle, "a swizzle of CUtensorMapSwizzle", arguments.swizzle);
  expect(arguments.l2_promotion <= kLastPromotion, "an l2Promotion of CUtensorMapL2promotion",
         arguments.l2_promotion);
  expect(arguments.fill <= 1, "an oobFill of CUtensorMapFloatOOBfill", arguments.fill);
}

void check_emulated(const TensorMapArguments& arguments) {
  if (arguments.type > kLastElement) {
    throw UnknownTensorMap(std::string("the data type ") + kTypes[arguments.type] +
                           ", which converts or pads elements, is not emulated");
  }
  if (arguments.interleave != 0) {
    throw UnknownTensorMap("interleaved layouts are not emulated");
  }
  if (arguments.swizzle > 3) {
    throw UnknownTensorMap("swizzles of atoms of 32 and 64 bytes are not emulated");
  }
}

void copy_dimensions(const TensorMapArguments& arguments, TensorMap& map) {
  for (unsigned i = 0; i < map.rank; ++i) {
    map.dims[i] = arguments.dims[i];
    expect(map.dims[i] >= 1 && map.dims[i] <= std::uint64_t{1} << 32,
           at("globalDim", i) + " from 1 to 2^32", map.dims[i]);
    const std::uint32_t box = arguments.box[i], step = arguments.steps[i];
    expect(box >= 1 && box <= 256, at("boxDim", i) + " from 1 to 256", box);
    expect(step >= 1 && step <= 8, at("elementStrides", i) + " from 1 to 8", step);
    map.box[i] = static_cast<std::uint16_t>(box);
    // TMA has no stride along dimension 0.
    map.steps[i] = i == 0 ? std::uint8_t{1} : static_cast<std::uint8_t>(step);
  }
}

void copy_strides(const TensorMapArguments& arguments, TensorMap& map) {
  map.strides[0] = bytes_of(map.element);
  for (unsigned i = 1; i < map.rank; ++i) {
    const std::uint64_t stride = map.strides[i] = arguments.strides[i - 1];
    const std::string name = at("globalStrides", i - 1);
    expect(stride % 16 == 0,
           name + " (in bytes, of dimension " + std::to_string(i) + ") that is a multiple of 16",
           stride);
    expect(stride < std::uint64_t{1} << 40, name + " below 2^40 bytes", stride);
  }
}

void check_inner_box(const TensorMapArguments& arguments, const TensorMap& map) {
  const unsigned bytes = map.box[0] * bytes_of(map.element), span = 16u << map.swizzle_bits;
  expect(bytes % 16 == 0, "a boxDim[0] of a multiple of 16 bytes", bytes);
  if (arguments.swizzle == 0) return;
  expect(bytes <= span,
         "a boxDim[0] of at most " + std::to_string(span) + " bytes, the span of the swizzle",
         bytes);
}

}  // namespace

void check_tensor_address(std::uint64_t address) {
  if (address % 16 != 0) {
    refuse("expected a globalAddress that is a multiple of 16, got " + hexadecimal(address));
  }
}

TensorMap encode_tensor_map(const TensorMapArguments& arguments) {
  check_enumerations(arguments);
  const unsigned rank = arguments.rank;
  expect(rank >= 1 && rank <= kTensorRank, "a tensorRank from 1 to 5", rank);
  if (arguments.dims == nullptr || arguments.box == nullptr || arguments.steps == nullptr ||
      (rank > 1 && arguments.strides == nullptr)) {
    refuse("expected arrays, got a null pointer");
  }
  check_emulated(arguments);
  check_tensor_address(arguments.address);
  TensorMap map;
  map.address = arguments.address;
  map.rank = static_cast<std::uint8_t>(rank);
  map.element = static_cast<TensorElement>(arguments.type);
  map.swizzle_bits = static_cast<std::uint8_t>(arguments.swizzle);
  map.fills_with_nan = arguments.fill != 0;
  copy_dimensions(arguments, map);
  copy_strides(arguments, map);
  check_inner_box(arguments, map);
  if (map.fills_with_nan && !is_floating(map.element)) {
    refuse(std::string("expected a floating-point type for an oobFill with NaN, got ") +
           kTypes[arguments.type]);
  }
  return map;
}

}  // namespace halfgrad::emulator
