// Copies and memsets by kernels. Each is a grid of one block, as the device runtime launches one.
#include <cstring>
#include <utility>

#include <halfgrad/emulator/simt/device_calls.h>

namespace halfgrad::emulator {
namespace {

constexpr int kInvalidMemcpyDirection = 21;
constexpr int kDeviceToDevice = 3, kDefault = 4;  ///< values of cudaMemcpyKind

const char* const kText = R"(
.version 7.0
.target sm_50
.address_size 64
.visible .entry cudaMemcpyAsync(.param .u64 to, .param .u64 from, .param .u64 bytes)
{
.reg .pred %p;
.reg .b16 %h;
.reg .b64 %to, %from, %i, %bytes, %address;
ld.param.u64 %to, [to];
ld.param.u64 %from, [from];
ld.param.u64 %bytes, [bytes];
cvt.u64.u32 %i, %tid.x;
LOOP:
setp.ge.u64 %p, %i, %bytes;
@%p ret;
add.u64 %address, %from, %i;
ld.u8 %h, [%address];
add.u64 %address, %to, %i;
st.u8 [%address], %h;
add.u64 %i, %i, 256;
bra LOOP;
}
.visible .entry cudaMemsetAsync(.param .u64 to, .param .u64 value, .param .u64 bytes)
{
.reg .pred %p;
.reg .b16 %h;
.reg .b64 %to, %i, %bytes, %address;
ld.param.u64 %to, [to];
ld.param.u8 %h, [value];
ld.param.u64 %bytes, [bytes];
cvt.u64.u32 %i, %tid.x;
LOOP:
setp.ge.u64 %p, %i, %bytes;
@%p ret;
add.u64 %address, %to, %i;
st.u8 [%address], %h;
add.u64 %i, %i, 256;
bra LOOP;
}
)";

/// Gives a grid of one of the kernels above to a stream.
void launch(LaneCall& call, const char* name, std::uint64_t to, std::uint64_t second,
            std::uint64_t bytes, std::uint64_t stream, bool per_thread) {
  static auto* const module = new Module(kText);  // launches at the end of the process may use it
  DeviceWork work;
  if (const int error = find_stream(call, stream, per_thread, work.stream)) {
    return finish(call, error);
  }
  if (bytes == 0) return finish(call, kSuccess);
  work.module = module;
  work.kernel = module->kernel(name);
  work.block_size = {256};
  for (const std::uint64_t value : {to, second, bytes}) {
    const std::size_t end = work.parameters.size();
    work.parameters.resize(end + sizeof value);
    std::memcpy(work.parameters.data() + end, &value, sizeof value);
  }
  add_work(call, std::move(work));
  finish(call, kSuccess);
}

/// cudaMemcpyAsync(to, from, bytes, kind, stream)
template <bool PerThread>
void copy(LaneCall& call) {
  const int kind = call.argument<int>(3);
  if (kind != kDeviceToDevice && kind != kDefault) return finish(call, kInvalidMemcpyDirection);
  launch(call, "cudaMemcpyAsync", call.argument(0), call.argument(1), call.argument(2),
         call.argument(4), PerThread);
}

/// cudaMemsetAsync(to, value, bytes, stream)
template <bool PerThread>
void set(LaneCall& call) {
  launch(call, "cudaMemsetAsync", call.argument(0), call.argument<std::uint32_t>(1),
         call.argument(2), call.argument(3), PerThread);
}

}  // namespace

void copy_memory(LaneCall& call) { copy<false>(call); }
void copy_memory_per_thread(LaneCall& call) { copy<true>(call); }
void set_memory(LaneCall& call) { set<false>(call); }
void set_memory_per_thread(LaneCall& call) { set<true>(call); }

}  // namespace halfgrad::emulator
