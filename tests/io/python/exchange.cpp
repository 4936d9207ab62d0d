// A C interface to halfgrad in a shared library, for share_memory.py and exchange_files.py.
#include <exception>
#include <filesystem>
#include <stdexcept>
#include <string>

#include <halfgrad/autograd/creation.h>
#include <halfgrad/autograd/ops.h>
#include <halfgrad/io/dlpack.h>
#include <halfgrad/io/npy.h>
#include <halfgrad/io/safetensors.h>

namespace hg = halfgrad;

namespace {

hg::Tensor held;  // the tensor that is exported, or that was imported

/// Returns the message of the error that f throws, or null. Valid until the next call.
template <class F>
const char* error_of(const F& f) {
  static std::string message;
  try {
    f();
    return nullptr;
  } catch (const std::exception& error) {
    message = error.what();
    return message.c_str();
  }
}

void write_again(const std::filesystem::path& from, const std::filesystem::path& to) {
  if (from.extension() == ".npy") return hg::io::save_npy(to, hg::io::load_npy(from));
  if (from.extension() == ".npz") return hg::io::save_npz(to, hg::io::load_npz(from));
  const auto [tensors, metadata] = hg::io::load_safetensors(from);
  hg::io::save_safetensors(to, tensors, metadata);
}

}  // namespace

extern "C" {

/// Holds [[0, 3], [1, 4], [2, 5]] with strides 1 and 3, in the dtype with this index.
void hold(int dtype) {
  held = hg::arange(6).to(hg::kAllDTypes[dtype]).reshape({2, 3}).transpose(0, 1);
}

void* export_held() { return hg::io::to_dlpack(held); }

const char* import_to_hold(void* managed) {
  return error_of([managed] {
    held = hg::io::from_dlpack(static_cast<hg::io::dlpack::ManagedTensorVersioned*>(managed));
  });
}

void fill_held(double value) { held.array().fill_(value); }

double sum_of_held() { return held.to(hg::kFloat64).sum().item(); }

void release() { held = {}; }

long long allocated() { return hg::allocator::stats({}).current; }

const char* rewrite(const char* from, const char* to) {
  return error_of([=] { write_again(from, to); });
}
}
