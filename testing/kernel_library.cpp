#include <halfgrad/testing/kernel_library.h>

#include <filesystem>
#include <stdexcept>

#include <dlfcn.h>

#include <halfgrad/core/stream.h>
#include <halfgrad/testing/kernel_symbol.h>

namespace halfgrad::testing {
namespace {

static_assert(halfgrad_float64 == static_cast<int>(DType::f64) &&
              halfgrad_bfloat16 == static_cast<int>(DType::bf16) &&
              halfgrad_uint8 == static_cast<int>(DType::u8) &&
              halfgrad_bool == static_cast<int>(DType::boolean) &&
              halfgrad_int8 == static_cast<int>(DType::i8));

std::string dtypes_of(const std::vector<Array>& arrays) {
  std::string text;
  for (const Array& array : arrays) {
    text += (text.empty() ? "" : ", ") + std::string(name(array.dtype()));
  }
  return text;
}

}  // namespace

namespace detail {

KernelSymbol load_symbol(const std::string& library, const std::string& symbol) {
  // dlopen searches for a name without a slash in the system's folders, not in the current one.
  const bool is_here = std::filesystem::is_regular_file(library);
  const std::string path = is_here ? std::filesystem::absolute(library).string() : library;
  void* const handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  void* const found = handle == nullptr ? nullptr : dlsym(handle, symbol.c_str());
  if (found == nullptr) throw std::runtime_error(std::string("load_kernel: ") + dlerror());
  return {handle, reinterpret_cast<halfgrad_kernel>(found), symbol};
}

halfgrad_tensor to_abi(const Array& array) {
  return {array.data(), static_cast<std::int32_t>(array.dtype()), array.ndim(),
          array.sizes().data(), array.strides().data()};
}

void expect_success(int code, const std::string& symbol, const std::vector<Array>& inputs,
                    const std::vector<Array>& outputs) {
  if (code == 0) return;
  throw std::runtime_error(symbol + " returned " + std::to_string(code) + " for " +
                           dtypes_of(inputs) + " -> " + dtypes_of(outputs));
}

}  // namespace detail

Kernel load_kernel(const std::string& library, const std::string& symbol) {
  const detail::KernelSymbol kernel = detail::load_symbol(library, symbol);
  return [kernel](const std::vector<Array>& inputs, const std::vector<Array>& outputs) {
    std::vector<halfgrad_tensor> tensors, results;
    for (const Array& input : inputs) tensors.push_back(detail::to_abi(input));
    for (const Array& output : outputs) results.push_back(detail::to_abi(output));
    void* const stream = current_stream(outputs.front().device()).native();
    const int code = kernel.function(tensors.data(), static_cast<std::int32_t>(tensors.size()),
                                     results.data(), stream);
    detail::expect_success(code, kernel.name, inputs, outputs);
  };
}

}  // namespace halfgrad::testing
