#pragma once

#include <algorithm>
#include <iterator>
#include <optional>

#include <halfgrad/core/dtype.h>
#include <halfgrad/io/dlpack_abi.h>

/// DLPack's codes of the dtypes.
namespace halfgrad::io::detail {

struct DlpackType {
  DType dtype;
  std::uint8_t code, bits;
};

inline constexpr DlpackType kDlpackTypes[] = {
    {kFloat64, dlpack::kFloat, 64},   {kFloat32, dlpack::kFloat, 32}, {kHalf, dlpack::kFloat, 16},
    {kBFloat16, dlpack::kBfloat, 16}, {kInt64, dlpack::kInt, 64},     {kInt32, dlpack::kInt, 32},
    {kInt16, dlpack::kInt, 16},       {kInt8, dlpack::kInt, 8},       {kUInt8, dlpack::kUInt, 8},
    {kBool, dlpack::kBool, 8}};

inline dlpack::DataType dlpack_type(DType dtype) {
  const auto& type = *std::ranges::find(kDlpackTypes, dtype, &DlpackType::dtype);
  return {type.code, type.bits, 1};
}

inline std::optional<DType> dtype_of_dlpack(dlpack::DataType wanted) {
  for (const DlpackType& type : kDlpackTypes) {
    if (type.code == wanted.code && type.bits == wanted.bits && wanted.lanes == 1)
      return type.dtype;
  }
  return std::nullopt;
}

}  // namespace halfgrad::io::detail
