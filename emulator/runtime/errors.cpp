#include <array>
#include <atomic>
#include <cstdio>
#include <map>
#include <mutex>
#include <new>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <halfgrad/emulator/runtime/call.h>
#include <halfgrad/emulator/runtime/error_state.h>

namespace halfgrad::emulator {
namespace {

thread_local cudaError_t last_error = cudaSuccess;
/// Per thread, what failed without a result that the program could look at: a launch by <<<>>>. It
/// is never destroyed, since the end of the process reads it.
struct UnseenLaunches {
  std::mutex mutex;
  std::map<std::thread::id, std::string> messages;
  std::map<std::thread::id, std::string> mistakes;  ///< wrong arguments that calls refused
};
UnseenLaunches& unseen_launches() {
  static auto* const launches = new UnseenLaunches;
  return *launches;
}

void forget_unseen_launch() {
  const std::lock_guard lock(unseen_launches().mutex);
  unseen_launches().messages.erase(std::this_thread::get_id());
  unseen_launches().mistakes.erase(std::this_thread::get_id());
}

/// Whether only a wrong program gets this error. A full memory or a missing feature is no mistake.
bool is_mistake(cudaError_t error) {
  switch (error) {
    case cudaErrorInvalidValue:
    case cudaErrorInvalidPitchValue:
    case cudaErrorInvalidSymbol:
    case cudaErrorInvalidMemcpyDirection:
    case cudaErrorInvalidDevice:
    case cudaErrorInvalidDevicePointer:
    case cudaErrorInvalidResourceHandle:
    case cudaErrorInvalidConfiguration:
    case cudaErrorLaunchOutOfResources:
    case cudaErrorCooperativeLaunchTooLarge:
      return true;
    default:
      return false;
  }
}

constexpr int kDevicesWithErrors = 64;
std::array<std::atomic<cudaError_t>, kDevicesWithErrors> sticky_errors{};
/// Whether a call returned the sticky error of a device.
std::array<std::atomic<bool>, kDevicesWithErrors> sticky_error_seen{};

}  // namespace

cudaError_t set_error(cudaError_t error) {
  // "Not ready" is an answer. A lost device returns its own error until it is reset.
  if (error == cudaErrorNotReady || device_is_lost(current_device())) return error;
  last_error = error;
  if (is_mistake(error)) {
    const std::string sites = call_sites();
    const std::lock_guard lock(unseen_launches().mutex);
    if (!sites.empty()) {
      unseen_launches().mistakes[std::this_thread::get_id()] =
          std::string(cudaGetErrorName(error)) + " was returned at " + sites;
    }
  }
  return error;
}

cudaError_t sticky_error(int device) {
  const auto i = static_cast<std::size_t>(device);
  const cudaError_t error = sticky_errors[i];
  if (error != cudaSuccess) sticky_error_seen[i] = true;
  return error;
}

cudaError_t sticky_error() { return sticky_error(current_device()); }

bool device_is_lost(int device) {
  return sticky_errors[static_cast<std::size_t>(device)] != cudaSuccess;
}

void set_sticky_error(cudaError_t error, int device) {
  if (error != cudaSuccess && process().settings.continue_after_abort) {
    set_error(error);
    return;
  }
  sticky_errors[static_cast<std::size_t>(device)] = error;
  sticky_error_seen[static_cast<std::size_t>(device)] = false;
}

cudaError_t error_after(FindingKind kind) {
  switch (kind) {
    case FindingKind::out_of_bounds:
    case FindingKind::use_after_free:
      return cudaErrorIllegalAddress;
    case FindingKind::misaligned:
      return cudaErrorMisalignedAddress;
    case FindingKind::assertion:
      return cudaErrorAssert;
    case FindingKind::deadlock:
      return cudaErrorLaunchTimeout;
    case FindingKind::unknown_instruction:
      return cudaErrorIllegalInstruction;
    default:
      return cudaErrorLaunchFailure;
  }
}

cudaError_t error_of_current_exception(const char* function) noexcept {
  try {
    throw;
  } catch (const CallFailed& failed) {
    return failed.error;
  } catch (const KernelAborted& aborted) {
    return error_after(aborted.kind);
  } catch (const std::bad_alloc&) {
    return cudaErrorMemoryAllocation;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "==halfgrad-emulate== %s: %s\n", function, error.what());
  } catch (...) {
    std::fprintf(stderr, "==halfgrad-emulate== %s: unknown exception\n", function);
  }
  return cudaErrorUnknown;
}

void note_unseen_launch(std::string message) {
  const std::lock_guard lock(unseen_launches().mutex);
  unseen_launches().mistakes.erase(std::this_thread::get_id());
  unseen_launches().messages[std::this_thread::get_id()] = std::move(message);
}

void check_unseen_errors(int exit_code) {
  {
    const std::lock_guard lock(unseen_launches().mutex);
    for (const auto& [thread, message] : unseen_launches().messages) {
      report_call(FindingKind::unchecked_error, "kernel launch",
                  message + ", and no cudaGetLastError followed");
    }
    for (const auto& [thread, message] : unseen_launches().mistakes) {
      if (exit_code != 0) continue;  // the program noticed
      report_call(FindingKind::unchecked_error, "runtime call",
                  message + ", and no cudaGetLastError followed");
    }
    unseen_launches().messages.clear();
    unseen_launches().mistakes.clear();
  }
  for (int device = 0; device < process().settings.devices && device < kDevicesWithErrors;
       ++device) {
    const auto i = static_cast<std::size_t>(device);
    if (sticky_errors[i] == cudaSuccess || sticky_error_seen[i]) continue;
    report_call(FindingKind::unchecked_error, ("device " + std::to_string(device)).c_str(),
                "a kernel was aborted (" + std::string(cudaGetErrorName(sticky_errors[i])) +
                    "), and no later call of the program could return the error");
  }
}

HALFGRAD_EMULATOR_API cudaError_t cudaGetLastError() {
  forget_unseen_launch();
  if (const cudaError_t error = sticky_error(); error != cudaSuccess) return error;
  return std::exchange(last_error, cudaSuccess);
}

HALFGRAD_EMULATOR_API cudaError_t cudaPeekAtLastError() {
  forget_unseen_launch();
  if (const cudaError_t error = sticky_error(); error != cudaSuccess) return error;
  return last_error;
}

}  // namespace halfgrad::emulator
