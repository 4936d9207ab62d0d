// Functions of the CUDA runtime that the emulator lacks: each ends the process with its name. They
// are weak, so a function that is written elsewhere takes their place.
namespace halfgrad::emulator {
[[noreturn]] void end_at_unknown_function(const char* function);
}

#define UNKNOWN_FUNCTION(name)                                          \
  extern "C" __attribute__((weak, visibility("default"))) void name() { \
    halfgrad::emulator::end_at_unknown_function(#name);                 \
  }
#include "unknown_functions.inc"
