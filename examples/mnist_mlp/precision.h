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
};

inline constexpr Precision kPrecisions[] = {
    {.name = "fp32"},
    {.name = "fp16-noscale", .autocast = halfgrad::kHalf},
    {.name = "fp16", .autocast = halfgrad::kHalf, .scales_loss = true},
    {.name = "bf16", .autocast = halfgrad::kBFloat16},
    {.name = "fp16-pure", .weights = halfgrad::kHalf},
};
