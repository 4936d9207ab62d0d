// Versions, names of errors, and the reason of the last one.
#include <mutex>

#include <halfgrad/emulator/nccl/communicator.h>
#include <halfgrad/emulator/runtime/process.h>

namespace halfgrad::emulator {
namespace {

thread_local std::string last_error;

}  // namespace

ncclResult_t refuse_nccl(const char* function, ncclResult_t result, const std::string& reason) {
  last_error = std::string(function) + ": " + reason;
  report_call(FindingKind::invalid_call, function,
              std::string(ncclGetErrorString(result)) + ": " + reason, Severity::note);
  return result;
}

const std::string& last_nccl_error() { return last_error; }

}  // namespace halfgrad::emulator

using namespace halfgrad::emulator;

HALFGRAD_EMULATOR_API ncclResult_t ncclGetVersion(int* version) {
  if (version == nullptr) return ncclInvalidArgument;
  *version = NCCL_VERSION_CODE;
  return ncclSuccess;
}

HALFGRAD_EMULATOR_API const char* ncclGetErrorString(ncclResult_t result) {
  switch (result) {
    case ncclSuccess:
      return "no error";
    case ncclUnhandledCudaError:
      return "unhandled cuda error";
    case ncclSystemError:
      return "unhandled system error";
    case ncclInternalError:
      return "internal error";
    case ncclInvalidArgument:
      return "invalid argument";
    case ncclInvalidUsage:
      return "invalid usage";
    case ncclRemoteError:
      return "remote process exited or there was a network error";
    case ncclInProgress:
      return "NCCL operation in progress";
    default:
      return "unknown result code";
  }
}

HALFGRAD_EMULATOR_API const char* ncclGetLastError(ncclComm_t) { return last_nccl_error().c_str(); }
