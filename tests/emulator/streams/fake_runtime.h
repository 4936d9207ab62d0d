#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <cuda_runtime_api.h>

#include <halfgrad/emulator/checks/finding.h>
#include <halfgrad/emulator/runtime/work.h>

namespace halfgrad::emulator {

/// Begins with no streams, no error and an empty log.
void restart(bool lazy = false, std::uint64_t seed = 0, int devices = 1);
void select_device(int device);

/// Names of the work that ran, in that order.
std::vector<std::string> log();
/// The operation under which the work of this name ran last, or 0.
OperationId operation_of(const std::string& name);
/// Findings of a kind since restart().
std::size_t findings_of(FindingKind kind);
/// Reads and clears the last error.
cudaError_t last_error();

/// Work that writes its name into the log.
Work logged(const std::string& name, WorkKind kind = WorkKind::kernel);
cudaError_t give(cudaStream_t stream, const std::string& name);

/// A kernel of the fake runtime: node parameters point to it, and it logs its name and argument.
struct FakeKernel {
  std::string name;
};
/// Parameters of a kernel node with one int argument.
class KernelNode {
 public:
  KernelNode(FakeKernel& kernel, int argument);
  const cudaKernelNodeParams* get() const { return &parameters_; }

 private:
  int argument_;
  void* pointers_[1];
  cudaKernelNodeParams parameters_{};
};

}  // namespace halfgrad::emulator
