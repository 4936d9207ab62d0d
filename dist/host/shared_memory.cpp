#include <halfgrad/dist/host/shared_memory.h>

#ifdef __linux__
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#endif

#include <cerrno>
#include <cstring>
#include <string>
#include <utility>

#include <halfgrad/dist/communicator.h>

namespace halfgrad::dist {
namespace {

// Smaller arrays are sent: their messages are shorter than the calls that would map them.
constexpr std::size_t kSmallest = 4096;

}  // namespace

Array SharedMemory::empty(const Shape& sizes, DType dtype) {
  const auto bytes = static_cast<std::size_t>(numel(sizes) * item_size(dtype));
  File* const file = bytes < kSmallest ? nullptr : take(bytes);
  if (file == nullptr) return Array::empty(sizes, dtype);
  return Array::from_blob(file->memory, sizes, contiguous_strides(sizes), dtype,
                          [owner = shared_from_this(), file] { owner->release(*file); });
}

// Returns the smallest unused file that is large enough, or a new one; nullptr if there is no
// memory.
SharedMemory::File* SharedMemory::take(std::size_t bytes) {
  const std::lock_guard lock(mutex_);
  File* best = nullptr;
  for (File& file : files_) {
    if (file.is_used || file.bytes < bytes) continue;
    if (best == nullptr || file.bytes < best->bytes) best = &file;
  }
  if (best == nullptr) {
    const std::optional<File> created = create(bytes);
    if (!created) return nullptr;
    best = &files_.emplace_back(*created);
  }
  best->is_used = true;
  return best;
}

void SharedMemory::release(File& file) {
  const std::lock_guard lock(mutex_);
  file.is_used = false;
}

SharedPlace SharedMemory::place_of(const std::byte* memory) const {
  const std::lock_guard lock(mutex_);
  for (const File& file : files_) {
    if (memory < file.memory || memory >= file.memory + file.bytes) continue;
    return {.file = file.descriptor,
            .inode = file.inode,
            .bytes = static_cast<std::int64_t>(file.bytes),
            .offset = memory - file.memory};
  }
  return {};
}

#ifdef __linux__

// Linux gives a file in memory more than there is, and ends some process when it is written to. So
// this takes the memory now, and no more than half of what is free.
std::optional<SharedMemory::File> SharedMemory::create(std::size_t bytes) const {
  const long free_pages = sysconf(_SC_AVPHYS_PAGES), page = sysconf(_SC_PAGESIZE);
  if (bytes > static_cast<std::size_t>(free_pages) / 2 * static_cast<std::size_t>(page)) {
    return std::nullopt;
  }
  const int descriptor = memfd_create("halfgrad", MFD_CLOEXEC);
  if (descriptor < 0) return std::nullopt;
  struct stat status = {};
  void* memory = MAP_FAILED;
  if (posix_fallocate(descriptor, 0, static_cast<off_t>(bytes)) == 0 &&
      fstat(descriptor, &status) == 0) {
    memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, descriptor, 0);
  }
  if (memory == MAP_FAILED) {
    close(descriptor);
    return std::nullopt;
  }
  return File{descriptor, static_cast<std::int64_t>(status.st_ino), bytes,
              static_cast<std::byte*>(memory), false};
}

SharedMemory::~SharedMemory() {
  for (const File& file : files_) {
    munmap(file.memory, file.bytes);
    close(file.descriptor);
  }
}

PeerMemory::~PeerMemory() {
  for (const auto& [inode, mapping] : mappings_) {
    munmap(const_cast<std::byte*>(mapping.memory), mapping.bytes);
  }
}

const std::byte* PeerMemory::address_of(const SharedPlace& place) {
  if (const auto known = mappings_.find(place.inode); known != mappings_.end()) {
    return known->second.memory + place.offset;
  }
  const std::string path =
      "/proc/" + std::to_string(process_) + "/fd/" + std::to_string(place.file);
  const auto bytes = static_cast<std::size_t>(place.bytes);
  void* memory = MAP_FAILED;
  std::string reason = "another file";
  const int descriptor = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (struct stat status = {}; descriptor < 0 || fstat(descriptor, &status) != 0) {
    reason = std::strerror(errno);
  } else if (static_cast<std::int64_t>(status.st_ino) == place.inode &&
             status.st_size == place.bytes) {
    memory = mmap(nullptr, bytes, PROT_READ, MAP_SHARED | MAP_POPULATE, descriptor, 0);
    if (memory == MAP_FAILED) reason = std::strerror(errno);
  }
  if (descriptor >= 0) close(descriptor);
  if (memory == MAP_FAILED) {
    throw CommunicationError("expected to map the shared memory " + path + ", got " + reason);
  }
  const auto* const start = static_cast<const std::byte*>(memory);
  mappings_.emplace(place.inode, Mapping{start, bytes});
  return start + place.offset;
}

#else  // no shared memory

std::optional<SharedMemory::File> SharedMemory::create(std::size_t) const { return std::nullopt; }
SharedMemory::~SharedMemory() = default;
PeerMemory::~PeerMemory() = default;
const std::byte* PeerMemory::address_of(const SharedPlace&) {
  throw CommunicationError("expected shared memory, got a system without memfd_create");
}

#endif

}  // namespace halfgrad::dist
