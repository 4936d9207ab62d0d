// Tensor maps (CUDA driver API, "Tensor Map Object Management").
#include <halfgrad/emulator/runtime/tensor_maps.h>

#include <bit>
#include <string_view>
#include <utility>

#include <halfgrad/emulator/memory/tensor_map.h>
#include <halfgrad/emulator/runtime/call.h>
#include <halfgrad/emulator/runtime/device.h>

namespace halfgrad::emulator {
namespace {

constexpr std::uint64_t kObjectAlignment = 64;  // bytes

/// Runs the body of a function of the driver. A broken rule is a note: the program gets the error.
template <class Body>
CUresult driver_call(const char* function, Body body) noexcept {
  try {
    if (gpu_of(current_device()).major < 9) {
      throw UnknownTensorMap(
          "tensor maps need a GPU of compute capability 9.0, such as --gpu h100");
    }
    body();
    return CUDA_SUCCESS;
  } catch (const std::invalid_argument& refused) {
    report_call(FindingKind::invalid_call, function, refused.what(), Severity::note);
    return CUDA_ERROR_INVALID_VALUE;
  } catch (const UnknownTensorMap& unknown) {
    report_call(FindingKind::unknown_function, function, unknown.what());
    return CUDA_ERROR_NOT_SUPPORTED;
  } catch (...) {
    return static_cast<CUresult>(error_of_current_exception(function));
  }
}

void check_object(const CUtensorMap* map) {
  const auto address = reinterpret_cast<std::uintptr_t>(map);
  if (map == nullptr || address % kObjectAlignment != 0) {
    throw std::invalid_argument("expected a tensorMap that is a multiple of 64, got " +
                                address_text(address));
  }
}

}  // namespace

CUresult CUDAAPI encode_tiled(CUtensorMap* map, CUtensorMapDataType type, cuuint32_t rank,
                              void* address, const cuuint64_t* dims, const cuuint64_t* strides,
                              const cuuint32_t* box, const cuuint32_t* steps,
                              CUtensorMapInterleave interleave, CUtensorMapSwizzle swizzle,
                              CUtensorMapL2promotion promotion, CUtensorMapFloatOOBfill fill) {
  return driver_call("cuTensorMapEncodeTiled", [&] {
    check_object(map);
    const TensorMap made = encode_tensor_map({.type = static_cast<unsigned>(type),
                                              .rank = rank,
                                              .address = reinterpret_cast<std::uint64_t>(address),
                                              .dims = dims,
                                              .strides = strides,
                                              .box = box,
                                              .steps = steps,
                                              .interleave = static_cast<unsigned>(interleave),
                                              .swizzle = static_cast<unsigned>(swizzle),
                                              .l2_promotion = static_cast<unsigned>(promotion),
                                              .fill = static_cast<unsigned>(fill)});
    *map = std::bit_cast<CUtensorMap>(made);
  });
}

CUresult CUDAAPI replace_tensor_address(CUtensorMap* map, void* address) {
  return driver_call("cuTensorMapReplaceAddress", [&] {
    check_object(map);
    auto made = std::bit_cast<TensorMap>(*map);
    if (made.magic != TensorMap::kMagic) {
      throw std::invalid_argument("expected a tensorMap that cuTensorMapEncodeTiled made");
    }
    made.address = reinterpret_cast<std::uint64_t>(address);
    check_tensor_address(made.address);
    *map = std::bit_cast<CUtensorMap>(made);
  });
}

// Errors of the runtime have the values of the driver's.
CUresult CUDAAPI name_of_result(CUresult result, const char** name) {
  if (name == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *name = result == CUDA_SUCCESS               ? "CUDA_SUCCESS"
          : result == CUDA_ERROR_INVALID_VALUE ? "CUDA_ERROR_INVALID_VALUE"
          : result == CUDA_ERROR_NOT_SUPPORTED ? "CUDA_ERROR_NOT_SUPPORTED"
                                               : nullptr;
  return *name == nullptr ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}

CUresult CUDAAPI text_of_result(CUresult result, const char** text) {
  if (text == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *text = cudaGetErrorString(static_cast<cudaError_t>(result));
  return CUDA_SUCCESS;
}

void* driver_function(const char* name) {
  static const std::pair<std::string_view, void*> kFunctions[] = {
      {"cuTensorMapEncodeTiled", reinterpret_cast<void*>(encode_tiled)},
      {"cuTensorMapReplaceAddress", reinterpret_cast<void*>(replace_tensor_address)},
      {"cuGetErrorName", reinterpret_cast<void*>(name_of_result)},
      {"cuGetErrorString", reinterpret_cast<void*>(text_of_result)},
  };
  for (const auto& [known, function] : kFunctions) {
    if (known == name) return function;
  }
  return nullptr;
}

}  // namespace halfgrad::emulator
