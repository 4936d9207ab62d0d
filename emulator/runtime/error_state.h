#pragma once

#include <string>

namespace halfgrad::emulator {

/// Remembers that a launch by <<<>>> was refused: only cudaGetLastError tells the program.
void note_unseen_launch(std::string message);

/// Reports errors that the program did not check: a refused launch that no cudaGetLastError
/// followed, an aborted kernel that no call followed. Called at the end of the process and at
/// resets.
/// A wrong argument that some call refused, and whose error no cudaGetLastError
/// read, is reported if the program ends with success.
void check_unseen_errors(int exit_code = 0);

/// Whether an aborted kernel has made the device unusable. Asking does not count as a check of the
/// error.
bool device_is_lost(int device);

}  // namespace halfgrad::emulator
