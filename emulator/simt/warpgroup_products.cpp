#include <halfgrad/emulator/simt/warpgroup_products.h>

#include <algorithm>
#include <string>

#include <halfgrad/emulator/checks/report.h>
#include <halfgrad/emulator/simt/launch.h>
#include <halfgrad/emulator/simt/warp.h>

namespace halfgrad::emulator {
namespace {

constexpr std::size_t kWarpsOfGroup = 4;

const PendingProduct* oldest(const WarpgroupProducts& products) {
  for (const auto& group : products.committed) {
    if (!group.empty()) return &group.front();
  }
  return products.open.empty() ? nullptr : &products.open.front();
}

/// The instruction for a finding: the product, if the kernel itself issued it, not a function that
/// it called.
const Instruction& named(const Execution& execution, const PendingProduct& product) {
  const Function& kernel = *execution.frame->function;
  return product.function == &kernel ? *product.instruction : kernel.code.back();
}

void check_waits(const Execution& execution) {
  const PendingProduct* product = oldest(execution.warp->products);
  if (product == nullptr) return;
  report(execution, named(execution, *product), first_lane(execution.mask), FindingKind::async_copy,
         "the warp exits while this product may be under way: expected wgmma.commit_group and "
         "wgmma.wait_group 0 before its results are used");
}

void check_numbers(const Execution& execution) {
  const auto& warps = execution.block->warps;
  const std::size_t first = execution.warp->index / kWarpsOfGroup * kWarpsOfGroup;
  const std::size_t end = std::min(first + kWarpsOfGroup, warps.size());
  const WarpgroupProducts *fewest = &warps[first].products, *most = fewest;
  std::string numbers;
  for (std::size_t i = first; i < end; ++i) {
    if (warps[i].alive != 0) return;
    const WarpgroupProducts& products = warps[i].products;
    if (products.issued < fewest->issued) fewest = &products;
    if (products.issued > most->issued) most = &products;
    numbers += (i == first ? "" : ", ") + std::to_string(products.issued);
  }
  if (fewest->issued == most->issued) return;
  report(execution, named(execution, most->last), first_lane(execution.mask),
         FindingKind::warp_sync,
         "expected all warps of its warpgroup to execute each wgmma.mma_async, got " + numbers +
             " of them in warps " + std::to_string(first) + " to " + std::to_string(end - 1));
}

}  // namespace

void check_products_of_exit(const Execution& execution) {
  if (!execution.launch->machine.settings.check_sync) return;
  check_waits(execution);
  check_numbers(execution);
}

}  // namespace halfgrad::emulator
