#pragma once

namespace halfgrad::emulator {

/// Reports what the program began and did not end: captures, and, with `leaks`, streams, events and
/// graphs that it did not destroy. Called at the end of the process.
void report_unfinished(bool leaks);

}  // namespace halfgrad::emulator
