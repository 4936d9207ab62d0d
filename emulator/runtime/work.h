#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <cuda_runtime_api.h>

#include <halfgrad/emulator/checks/operation_order.h>
#include <halfgrad/emulator/report/process_report.h>
#include <halfgrad/emulator/runtime/streams/meeting.h>

namespace halfgrad::emulator {

enum class WorkKind : unsigned char { kernel, copy, memset, library, host_function, allocation };

/// Parameters that cudaGraphKernelNodeGetParams and similar calls return for a node. A kernel's
/// `kernelParams` points to `argument_pointers`, which point into `arguments`: copies that live as
/// long as the work.
struct WorkParameters {
  std::variant<std::monostate, cudaKernelNodeParams, cudaMemcpy3DParms, cudaMemsetParams,
               cudaHostNodeParams>
      values;
  std::vector<std::byte> arguments;
  std::vector<void*> argument_pointers;
  bool cooperative = false;
  dim3 cluster{0, 0, 0};  ///< blocks of a cluster, as an attribute of the launch chose; 0: none
};

/// A piece of work for a stream, or a node of a graph.
struct Work {
  WorkKind kind = WorkKind::kernel;
  std::string name;    ///< "kernel map_packs", "cudaMemcpyAsync", "cublasLtMatmul"
  std::string detail;  ///< grid and block, bytes, sizes of matrices: for reports
  int device = 0;
  /// A kernel that may begin while the one before it in the stream still runs
  /// (cudaLaunchAttributeProgrammaticStreamSerialization). As a graph's node it may not.
  bool programmatic = false;
  /// Devices of the memories that a copy reads and writes, if they differ.
  std::optional<std::pair<int, int>> between;
  std::optional<WorkCost> cost;
  std::function<void(OperationId)> run;
  /// Makes the rank's part of a collective, anew for each launch of a graph; used in place of
  /// `run` unless it is empty.
  std::function<std::shared_ptr<Meeting>()> meet;
  std::shared_ptr<const WorkParameters> parameters;  ///< filled by the builders; nullptr: not known
};

/// Gives the work to a stream: it runs at once or later (--streams lazy), or becomes a node if the
/// stream is being captured. `stream` may be 0, cudaStreamLegacy or cudaStreamPerThread.
/// cuBLAS's stand-ins call this and wait_for_stream, so libcudart's shows them.
__attribute__((visibility("default"))) cudaError_t enqueue(cudaStream_t stream, Work work);

/// Remembers that the stream's newest operation reads these bytes of pinned memory, so that the
/// host must not write them before it has waited.
void note_host_read(cudaStream_t stream, const void* begin, std::size_t bytes,
                    const std::string& text);

/// Runs everything that the stream, or the whole device, has been given, and orders the host after
/// it.
__attribute__((visibility("default"))) cudaError_t wait_for_stream(cudaStream_t stream);
cudaError_t wait_for_device(int device);
/// Runs what a meeting that was broken off no longer holds up, and wakes the threads that wait.
__attribute__((visibility("default"))) void run_released_work();

/// Whether a call that may synchronise or allocate is legal now: in a global-mode capture it is
/// not. Returns cudaErrorStreamCaptureUnsupported and adds a finding otherwise.
cudaError_t refuse_in_capture(const char* function);
/// Whether a call that waits for a whole device is legal now: no stream of the device may be
/// captured, in any mode. Otherwise fails as refuse_in_capture() does.
cudaError_t refuse_while_device_captures(const char* function, int device);

/// Runs everything that any stream has been given: at the end of the process.
void finish_all_work();
/// The program ends: what waits for a rank that has not called its collective gives up.
void expect_no_more_work();

/// The operation that the host does now: what it reads and writes between two waits.
OperationId host_operation();
const OperationOrder& operation_order();

// Builders of work, which streams and graphs' explicit nodes share.

/// Packs the arguments now, so the caller may change them afterwards.
cudaError_t kernel_work(const cudaKernelNodeParams& parameters, bool cooperative, Work& work);
/// `cluster` as in WorkParameters.
cudaError_t kernel_work_in_clusters(const cudaKernelNodeParams& parameters, bool cooperative,
                                    dim3 cluster, Work& work);
cudaError_t copy_work(const cudaMemcpy3DParms& parameters, Work& work);
cudaError_t copy_work(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind,
                      Work& work);
cudaError_t memset_work(const cudaMemsetParams& parameters, Work& work);
cudaError_t host_work(cudaHostFn_t function, void* data, Work& work);

}  // namespace halfgrad::emulator
