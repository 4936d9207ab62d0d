#pragma once

#include <cstdint>

#include <halfgrad/emulator/ptx/instructions/matrix.h>

namespace halfgrad::emulator {

/// What a product does; instructions of one form share it.
struct Product {
  MatrixShape shape;
  Element a, b, c, d;
  bool saturate, exclusive_or;
  const FragmentLayout *layout_a, *layout_b, *layout_c, *layout_d;

  bool operator==(const Product&) const = default;
};

/// The instruction's list holds the registers of D, A, B and C, so many of each.
struct ProductOptions {
  const Product* product;
  std::uint8_t d, a, b, c;
};

/// The function that runs products of these types; its instruction's options are ProductOptions.
Execute execute_of_product(const Product& product);

}  // namespace halfgrad::emulator
