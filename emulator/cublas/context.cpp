#include <halfgrad/emulator/cublas/context.h>

#include <cstring>
#include <memory>
#include <utility>

#include <halfgrad/emulator/runtime/process.h>

namespace halfgrad::emulator {
namespace {
/// Every call fills its workspace: on a GPU, it may overwrite all of it.
constexpr int kWorkspaceByte = 0x5a;
}  // namespace

cublasStatus_t refuse_call(const char* function, cublasStatus_t status, const std::string& reason) {
  report_call(FindingKind::invalid_call, function,
              std::string(cublasGetStatusName(status)) + ": " + reason, Severity::note);
  return status;
}

cublasStatus_t BlasCall::run(std::function<void(const LibraryCall&)> work,
                             std::optional<WorkCost> cost) const {
  if (context_ == nullptr) {
    return refuse_call(function_, CUBLAS_STATUS_NOT_INITIALIZED, "the handle is not valid");
  }
  if (wrong_ != nullptr) return refuse_call(function_, CUBLAS_STATUS_INVALID_VALUE, wrong_);
  if (context_->device != current_device()) {
    return refuse_call(function_, CUBLAS_STATUS_EXECUTION_FAILED,
                       "the handle belongs to another device than the current one");
  }
  void* const workspace = context_->workspace;
  const std::size_t bytes = context_->workspace_bytes;
  if (workspace == nullptr || bytes == 0) {
    return enqueue_call(context_->stream, function_, "", cost, std::move(work));
  }
  return enqueue_call(
      context_->stream, function_, "", cost, [=, work = std::move(work)](const LibraryCall& call) {
        std::memset(call.view(workspace, bytes, AccessKind::store), kWorkspaceByte, bytes);
        work(call);
      });
}

cublasStatus_t BlasCall::reduce(void* result, cudaDataType type,
                                std::function<double(const LibraryCall&)> work) const {
  if (is_valid() && context_->device_factors()) {
    return run([=](const LibraryCall& call) {
      const double value = work(call);
      std::byte* to = call.view(result, bytes_of_element(type), AccessKind::store);
      write_elements(&value, 1, type, to, 1);
    });
  }
  const auto value = std::make_shared<double>(0);
  const cublasStatus_t status = run([=](const LibraryCall& call) { *value = work(call); });
  if (status != CUBLAS_STATUS_SUCCESS) return status;
  if (wait_for_stream(context_->stream) != cudaSuccess) return CUBLAS_STATUS_EXECUTION_FAILED;
  write_elements(value.get(), 1, type, static_cast<std::byte*>(result), 1);
  return CUBLAS_STATUS_SUCCESS;
}

}  // namespace halfgrad::emulator
