// Local and parameter memory: places that each lane has for itself.
#include <halfgrad/emulator/memory/access_site.h>
#include <halfgrad/emulator/simt/launch.h>
#include <halfgrad/emulator/simt/warp.h>

namespace halfgrad::emulator {

HostPointers resolve_local(const AccessSite& site) {
  const Frame& frame = *site.execution.frame;
  const Warp& warp = *site.execution.warp;
  const std::size_t size = std::size_t{frame.local_begin} + frame.function->local_bytes;
  HostPointers pointers;
  each_lane(site.execution.mask, [&](unsigned lane) {
    const std::uint64_t offset = site.addresses[lane];
    if (offset > size || site.access.bytes > size - offset || !site.aligned(offset)) {
      site.abort_offset(lane, "local memory", "thread", size);
    }
    pointers.lane[lane] = warp.local + lane * warp.local_stride + offset;
  });
  site.tell_checks(pointers);
  return pointers;
}

HostPointers resolve_parameter(const AccessSite& site, std::size_t in_launch) {
  const Frame& frame = *site.execution.frame;
  const std::size_t in_frame = frame.function->parameter_bytes, size = in_launch + in_frame;
  auto* launch = const_cast<std::byte*>(site.execution.launch->request.parameters);
  HostPointers pointers;
  // All lanes load a kernel's parameter at one offset, mostly.
  const std::uint64_t first = site.addresses[first_lane(site.execution.mask)];
  std::uint64_t difference = 0;
  for (const std::uint64_t address : site.addresses) difference |= address ^ first;
  const bool inside = first < in_launch && site.access.bytes <= in_launch - first;
  if (difference == 0 && inside && site.access.kind == AccessKind::load) {
    pointers.lane.fill(launch + first);
    return pointers;
  }
  each_lane(site.execution.mask, [&](unsigned lane) {
    const std::uint64_t offset = site.addresses[lane];
    const bool of_launch = offset < in_launch;
    const std::size_t end = of_launch ? in_launch : size;
    if (offset > end || site.access.bytes > end - offset) {
      site.abort_offset(lane, "parameter memory", "function", end);
    }
    if (of_launch && site.access.kind != AccessKind::load) {
      site.abort(
          lane, FindingKind::out_of_bounds,
          "byte " + std::to_string(offset) + " of the kernel's parameters, which are constant");
    }
    pointers.lane[lane] =
        of_launch ? launch + offset : frame.parameters + lane * in_frame + (offset - in_launch);
  });
  return pointers;
}

}  // namespace halfgrad::emulator
