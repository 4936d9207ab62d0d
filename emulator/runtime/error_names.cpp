#include <halfgrad/emulator/runtime/process.h>

namespace halfgrad::emulator {
namespace {

struct ErrorText {
  int code;
  const char* name;
  const char* text;
};

// Error codes are integers here, since CUDA 12's headers lack some enumerators of CUDA 13.
constexpr ErrorText kErrorTexts[] = {
#define ERROR_TEXT(name, code, text) {code, #name, text},
#include <halfgrad/emulator/runtime/error_texts.inc>
#undef ERROR_TEXT
};

const ErrorText* find_error(cudaError_t error) {
  for (const ErrorText& entry : kErrorTexts) {
    if (entry.code == static_cast<int>(error)) return &entry;
  }
  return nullptr;
}

}  // namespace

HALFGRAD_EMULATOR_API const char* cudaGetErrorName(cudaError_t error) {
  const ErrorText* entry = find_error(error);
  return entry == nullptr ? "unrecognized error code" : entry->name;
}

HALFGRAD_EMULATOR_API const char* cudaGetErrorString(cudaError_t error) {
  const ErrorText* entry = find_error(error);
  return entry == nullptr ? "unrecognized error code" : entry->text;
}

}  // namespace halfgrad::emulator
