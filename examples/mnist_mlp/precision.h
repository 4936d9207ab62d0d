#pragma once

#include <optional>
#include <string_view>

#include <halfgrad/core/dtype.h>

/// A choice of number formats for training.
struct Precision {
  std::string_view name;
  std::optional<halfgrad::DType> autocast = {};  ///< autocast's 16-bit dtype; nullopt: no autocast
  bool scales_loss = false;                      ///< uses a GradScaler
  halfgrad::DType weights = halfgrad::kFloat32;
  bool masters = false;  ///< keeps float32 master weights for 16-bit weights
};

/// The first scale of a GradScaler.
struct InitScale {
  bool is_recommended = false;  ///< the largest that the gradients of the first batches allow
  double value = 1;             ///< otherwise
};

inline constexpr Precision kPrecisions[] = {
    {.name = "fp32"},
    {.name = "fp16-noscale", .autocast = halfgrad::kHalf},
    {.name = "fp16", .autocast = halfgrad::kHalf, .scales_loss = true},
    {.name = "bf16", .autocast = halfgrad::kBFloat16},
    {.name = "fp16-pure", .weights = halfgrad::kHalf},
    {.name = "fp16-masters", .scales_loss = true, .weights = halfgrad::kHalf, .masters = true},
};
