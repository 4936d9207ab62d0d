// Shapes of mma.sync and the layouts of their fragments, after the figures and formulas of the PTX
// ISA, one shape at a time, with g = lane / 4, t = lane % 4 and i the element.
#pragma once

#include <functional>
#include <utility>
#include <vector>

#include "matrices.h"

namespace halfgrad::emulator {

struct Place {
  unsigned row, column;
};
using Layout = std::function<Place(unsigned g, unsigned t, unsigned i)>;

struct MmaForm {
  std::string name;
  unsigned m, n, k;
  ElementType a, b, c, d;
  Layout place_a, place_b, place_c;
};

inline Place accumulators(unsigned g, unsigned t, unsigned i) {
  return {i < 2 ? g : g + 8, t * 2 + (i & 1)};
}
inline Layout a_of(unsigned per_register) {  // rows g and g + 8, then the same with further columns
  return [r = per_register](unsigned g, unsigned t, unsigned i) {
    const bool first = i < r || (i >= 2 * r && i < 3 * r);
    return Place{first ? g : g + 8, t * r + i % r + (i >= 2 * r ? 4 * r : 0)};
  };
}
inline Layout b_of(unsigned per_register) {
  return [r = per_register](unsigned g, unsigned t, unsigned i) {
    return Place{t * r + i % r + (i >= r ? 4 * r : 0), g};
  };
}
inline Layout a_of_8_rows(unsigned per_register) {
  return [r = per_register](unsigned g, unsigned t, unsigned i) { return Place{g, t * r + i}; };
}
inline Place a_of_f64(unsigned g, unsigned t, unsigned i) {
  return {i % 2 == 0 ? g : g + 8, t + 4 * (i / 2)};
}
inline Place b_of_f64(unsigned g, unsigned t, unsigned i) { return {t + 4 * i, g}; }

inline std::vector<MmaForm> forms() {
  std::vector<MmaForm> all;
  for (const unsigned k : {8u, 16u}) {
    for (const auto& [d, c] : {std::pair{kF32, kF32}, {kF16, kF16}, {kF32, kF16}, {kF16, kF32}}) {
      all.push_back({"f16", 16, 8, k, kF16, kF16, c, d, a_of(2), b_of(2), accumulators});
    }
    all.push_back({"bf16", 16, 8, k, kBF16, kBF16, kF32, kF32, a_of(2), b_of(2), accumulators});
  }
  for (const unsigned k : {4u, 8u}) {
    all.push_back({"tf32", 16, 8, k, kTF32, kTF32, kF32, kF32, a_of(1), b_of(1), accumulators});
  }
  for (const auto& [a, b] : {std::pair{kS8, kS8}, {kU8, kS8}, {kS8, kU8}, {kU8, kU8}}) {
    all.push_back({"8", 8, 8, 16, a, b, kS32, kS32, a_of_8_rows(4), b_of(4), accumulators});
    all.push_back({"8", 16, 8, 16, a, b, kS32, kS32, a_of(4), b_of(4), accumulators});
    all.push_back({"8", 16, 8, 32, a, b, kS32, kS32, a_of(4), b_of(4), accumulators});
  }
  for (const auto& [a, b] : {std::pair{kS4, kS4}, {kU4, kS4}, {kS4, kU4}, {kU4, kU4}}) {
    all.push_back({"4", 8, 8, 32, a, b, kS32, kS32, a_of_8_rows(8), b_of(8), accumulators});
    all.push_back({"4", 16, 8, 32, a, b, kS32, kS32, a_of(8), b_of(8), accumulators});
    all.push_back({"4", 16, 8, 64, a, b, kS32, kS32, a_of(8), b_of(8), accumulators});
  }
  for (const auto& [a, b] : {std::pair{kE4M3, kE4M3}, {kE4M3, kE5M2}, {kE5M2, kE5M2}}) {
    for (const ElementType& c : {kF16, kF32}) {
      all.push_back({"8 bits", 16, 8, 16, a, b, c, c, a_of(4), b_of(4), accumulators});
      all.push_back({"8 bits", 16, 8, 32, a, b, c, c, a_of(4), b_of(4), accumulators});
    }
  }
  for (const char* op : {".xor.popc", ".and.popc"}) {
    all.push_back({op, 8, 8, 128, kB1, kB1, kS32, kS32, a_of_8_rows(32), b_of(32), accumulators});
    all.push_back({op, 16, 8, 128, kB1, kB1, kS32, kS32, a_of(32), b_of(32), accumulators});
    all.push_back({op, 16, 8, 256, kB1, kB1, kS32, kS32, a_of(32), b_of(32), accumulators});
  }
  all.push_back({"f64", 8, 8, 4, kF64, kF64, kF64, kF64, a_of_8_rows(1), b_of(1), accumulators});
  for (const unsigned k : {4u, 8u, 16u}) {
    all.push_back({"f64", 16, 8, k, kF64, kF64, kF64, kF64, a_of_f64, b_of_f64, accumulators});
  }
  return all;
}

}  // namespace halfgrad::emulator
