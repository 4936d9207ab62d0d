#pragma once

#include <cstdint>

#include <halfgrad/emulator/ptx/instructions/matrix.h>

namespace halfgrad::emulator {

/// Shape, types and layouts of a matrix product. Instructions of one form share it.
struct Product {
  MatrixShape shape;
  Element a, b, c, d;
  bool saturate, exclusive_or;
  const FragmentLayout *layout_a, *layout_b, *layout_c, *layout_d;

  bool operator==(const Product&) const = default;
};

/// Counts of the registers of D, A, B and C, in the order of the instruction's list.
struct ProductOptions {
  const Product* product;
  std::uint8_t d, a, b, c;
};

/// result += a b, row-major matrices of the product's shape, in the order and with the roundings of
/// the page's model of a tensor core.
void add_product(const Product& product, const double* a, const double* b, double* result);
void add_product(const Product& product, const std::int32_t* a, const std::int32_t* b,
                 std::int32_t* result);

/// The function that runs products of these types; its instruction's options are ProductOptions.
Execute execute_of_product(const Product& product);

}  // namespace halfgrad::emulator
