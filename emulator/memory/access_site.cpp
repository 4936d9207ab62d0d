#include <halfgrad/emulator/memory/access_site.h>

#include <halfgrad/emulator/checks/report.h>
#include <halfgrad/emulator/ptx/readable_name.h>
#include <halfgrad/emulator/simt/launch.h>

namespace halfgrad::emulator {
namespace {

std::string text_of(const Access& access) {
  static constexpr const char* kNames[] = {"load", "store", "atomic"};
  return std::string(kNames[static_cast<int>(access.kind)]) + " of " +
         std::to_string(access.bytes) + (access.bytes == 1 ? " byte" : " bytes");
}

bool lands_later(const Access& access) {
  return access.asynchronous && access.kind == AccessKind::store && access.space == Space::shared;
}

}  // namespace

bool AccessSite::contiguous() const {
  if (execution.mask != kAllLanes || !aligned(addresses[0] | access.bytes)) return false;
  std::uint64_t difference = 0;
  for (unsigned lane = 0; lane < kWarpSize; ++lane) {
    difference |= addresses[lane] ^ (addresses[0] + std::uint64_t{lane} * access.bytes);
  }
  return difference == 0;
}

void AccessSite::tell_checks(const HostPointers& pointers) const {
  LaunchChecks* checks = execution.launch->checks.get();
  if (checks == nullptr || lands_later(access)) return;
  checks->access(execution, instruction, access, addresses, pointers, stored);
}

void AccessSite::tell_checks(const HostPointers& pointers, Block& owner) const {
  LaunchChecks* checks = execution.launch->checks.get();
  if (checks == nullptr || lands_later(access)) return;
  checks->access_of_cluster(execution, instruction, access, addresses, pointers, stored, owner);
}

void AccessSite::abort(unsigned lane, FindingKind kind, const std::string& where) const {
  // An address of a window means another memory than the one that was accessed.
  const bool in_window = access.space == Space::global && (addresses[lane] & kWindowMask) != 0;
  abort_kernel(execution, instruction, lane, kind, text_of(access) + " at " + where,
               in_window ? 0 : addresses[lane]);
}

void AccessSite::abort_misaligned(unsigned lane, const std::string& where) const {
  abort(lane, FindingKind::misaligned,
        where + ", which must be a multiple of " + std::to_string(access.alignment));
}

void AccessSite::abort_offset(unsigned lane, const std::string& memory, const char* owner,
                              std::size_t size) const {
  const std::uint64_t offset = addresses[lane];
  const std::string where = "byte " + std::to_string(offset) + " of " + memory;
  if (offset <= size && access.bytes <= size - offset) abort_misaligned(lane, where);
  abort(lane, FindingKind::out_of_bounds,
        where + ", of which the " + owner + " has " + std::to_string(size) + " bytes");
}

void AccessSite::report_outside(unsigned lane, const std::string& mangled, std::uint64_t offset,
                                std::uint64_t size) const {
  report(execution, instruction, lane, FindingKind::out_of_bounds,
         text_of(access) + " at byte " + std::to_string(static_cast<std::int64_t>(offset)) +
             " of the shared variable " + readable_name(mangled) + ", which has " +
             std::to_string(size) + " bytes",
         kSharedWindow | addresses[lane]);
}

HostPointers pointers_from(std::byte* first, unsigned bytes) {
  HostPointers pointers;
  for (unsigned lane = 0; lane < kWarpSize; ++lane) {
    pointers.lane[lane] = first + std::size_t{lane} * bytes;
  }
  pointers.contiguous = true;
  return pointers;
}

std::string hexadecimal(std::uint64_t value) {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  do {
    text.insert(text.begin(), kDigits[value & 15]);
    value >>= 4;
  } while (value != 0);
  return "0x" + text;
}

}  // namespace halfgrad::emulator
