#pragma once

#include <cuda_runtime_api.h>

namespace halfgrad::emulator {

/// An object of the program that graphs keep alive (CUDA programming guide, "CUDA User Objects").
/// The last reference, the program's or a graph's, destroys it.
struct UserObject {
  UserObject(void* object, cudaHostFn_t destroy) : object_(object), destroy_(destroy) {}
  ~UserObject() { destroy_(object_); }
  UserObject(const UserObject&) = delete;
  UserObject& operator=(const UserObject&) = delete;

 private:
  void* object_;
  cudaHostFn_t destroy_;
};

}  // namespace halfgrad::emulator
