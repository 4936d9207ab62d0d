#include <cstddef>
#include <cstring>

#include <halfgrad/emulator/runtime/process.h>
#include <halfgrad/emulator/runtime/streams/stream_state.h>

/// Called by allocators that hand out parts of an allocation again and again (docs/emulator.md).
/// Sets the bytes to unwritten, as fresh memory is, so that a read of their old contents is found.
/// Has no effect while a stream has work that has not ended, which may need the old contents, or
/// with lazy streams.
HALFGRAD_EMULATOR_API void halfgrad_emulate_forget_contents(void* memory, std::size_t bytes) {
  using namespace halfgrad::emulator;
  const Process& here = process();
  if (here.settings.lazy_streams || bytes == 0) return;
  if (stream_state().scheduler.oldest_pending() != 0) return;
  const auto address = reinterpret_cast<std::uint64_t>(memory);
  const Allocation* const found = here.memory.find(address, bytes);
  if (found == nullptr || found->written == nullptr) return;
  std::memset(found->written + (address - found->begin), 0, bytes);
}
