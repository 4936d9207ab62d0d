#include <halfgrad/emulator/simt/bulk_reads.h>

#include <halfgrad/emulator/checks/report.h>
#include <halfgrad/emulator/simt/launch.h>
#include <halfgrad/emulator/simt/warp.h>

namespace halfgrad::emulator {

void check_bulk_reads_of_exit(const Execution& execution) {
  if (execution.warp->bulk_reads.pending.empty()) return;
  if (!execution.launch->machine.settings.check_sync) return;
  for (const BulkRead& read : execution.warp->bulk_reads.pending) {
    if (!read.reads || (execution.mask >> read.lane & 1) == 0) continue;
    // The finding names the copy, if the kernel itself issued it, not a function that it called.
    const Function& kernel = *execution.frame->function;
    const bool own = read.function == &kernel;
    report(execution, own ? *read.instruction : kernel.code.back(), read.lane,
           FindingKind::async_copy,
           "the thread exits while this bulk copy may still read shared memory: expected "
           "cp.async.bulk.commit_group and cp.async.bulk.wait_group.read 0",
           0, "", Severity::note);
    return;
  }
}

}  // namespace halfgrad::emulator
