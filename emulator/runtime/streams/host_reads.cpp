#include <halfgrad/emulator/runtime/streams/host_reads.h>

#include <algorithm>
#include <utility>

#include <halfgrad/emulator/runtime/call.h>

namespace halfgrad::emulator {
namespace {

constexpr std::size_t kMostReads = 64;      ///< older ones are forgotten
constexpr std::size_t kMostSamples = 4096;  ///< bytes of a buffer that are compared

}  // namespace

/// FNV-1a of bytes at equal distances.
std::uint64_t HostReads::sample_of(const Read& read) {
  const std::size_t step = std::max<std::size_t>(read.bytes / kMostSamples, 1);
  std::uint64_t hash = 0xcbf29ce484222325u;
  for (std::size_t i = 0; i < read.bytes; i += step) {
    hash = (hash ^ static_cast<std::uint64_t>(read.begin[i])) * 0x100000001b3u;
  }
  return hash;
}

void HostReads::add(Position position, const void* begin, std::size_t bytes, std::string text) {
  if (reads_.size() == kMostReads) reads_.erase(reads_.begin());
  Read read{position, static_cast<const std::byte*>(begin), bytes, std::move(text), 0};
  read.sample = sample_of(read);
  reads_.push_back(std::move(read));
}

void HostReads::check() {
  std::erase_if(reads_, [](const Read& read) {
    if (sample_of(read) == read.sample) return false;
    report_call(FindingKind::stream_race, read.text.c_str(),
                "the host has written the pinned memory that this copy reads, before it waited "
                "for the copy");
    return true;
  });
}

void HostReads::accept() {
  for (Read& read : reads_) read.sample = sample_of(read);
}

void HostReads::forget(const Clock& waited) {
  std::erase_if(reads_, [&](const Read& read) { return waited.covers(read.position); });
}

}  // namespace halfgrad::emulator
