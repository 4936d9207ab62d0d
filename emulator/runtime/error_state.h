#pragma once

#include <string>

namespace halfgrad::emulator {

/// Remembers that a launch by <<<>>> was refused: only cudaGetLastError tells the program.
void note_unseen_launch(std::string message);

/// Reports errors that the program had no look at: a refused launch that no cudaGetLastError
/// followed, an aborted kernel that no call followed. At the end of the process and at resets.
void check_unseen_errors();

/// Whether an aborted kernel has spoilt the device; does not count as a look at the error.
bool device_is_lost(int device);

}  // namespace halfgrad::emulator
