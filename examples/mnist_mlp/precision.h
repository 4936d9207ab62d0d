#pragma once

#include <optional>
#include <string_view>

#include <halfgrad/core/dtype.h>

/// One way to use number formats in training.
struct Precision {
  std::string_view name;
  std::optional<halfgrad::DType> autocast = {};  ///< what autocast runs safe ops in
  bool scales_loss = false;                      ///< with a GradScaler
  halfgrad::DType weights = halfgrad::kFloat32;
  bool masters = false;  ///< the optimizer updates float32 copies of 16-bit weights
};

inline constexpr Precision kPrecisions[] = {
    {.name = "fp32"},
    {.name = "fp16-noscale", .autocast = halfgrad::kHalf},
    {.name = "fp16", .autocast = halfgrad::kHalf, .scales_loss = true},
    {.name = "bf16", .autocast = halfgrad::kBFloat16},
    {.name = "fp16-pure", .weights = halfgrad::kHalf},
    {.name = "fp16-masters", .scales_loss = true, .weights = halfgrad::kHalf, .masters = true},
};
