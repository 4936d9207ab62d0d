#include <halfgrad/emulator/simt/frames.h>

#include <cstring>
#include <stdexcept>

#include <halfgrad/emulator/simt/special_registers.h>

namespace halfgrad::emulator {
namespace {

constexpr std::size_t kRegisterAlignment = 64;

std::byte* aligned(std::byte* memory) {
  const auto address = reinterpret_cast<std::uintptr_t>(memory);
  const std::uintptr_t up = (address + kRegisterAlignment - 1) / kRegisterAlignment;
  return memory + (up * kRegisterAlignment - address);
}

template <class T>
void copy_to_lanes(std::byte* place, std::uint64_t bits) {
  T* lanes = reinterpret_cast<T*>(place);
  for (unsigned lane = 0; lane < kWarpSize; ++lane) lanes[lane] = static_cast<T>(bits);
}

void fill_constants(Frame& frame) {
  for (const Function::Constant& constant : frame.function->constants) {
    std::byte* place = frame.registers + constant.offset;
    if (constant.type == Type::pred) {
      const LaneMask mask = constant.bits != 0 ? kAllLanes : 0;
      std::memcpy(place, &mask, sizeof mask);
      continue;
    }
    switch (bytes_of(constant.type)) {
      case 1:
      case 2:
        copy_to_lanes<std::uint16_t>(place, constant.bits);
        break;
      case 4:
        copy_to_lanes<std::uint32_t>(place, constant.bits);
        break;
      case 8:
        copy_to_lanes<std::uint64_t>(place, constant.bits);
        break;
      default:
        throw std::logic_error("fill_constants: expected a constant of at most 8 bytes");
    }
  }
}

}  // namespace

WarpFrames::Owned& WarpFrames::make(const Function& function, std::uint32_t depth,
                                    std::uint32_t local_begin) {
  if (levels_.size() <= depth) levels_.resize(depth + 1);
  std::unique_ptr<Owned>& frame = levels_[depth].emplace_back(std::make_unique<Owned>());
  const std::size_t registers =
      (function.register_bytes + kRegisterAlignment - 1) / kRegisterAlignment * kRegisterAlignment;
  frame->memory.resize(registers + kWarpSize * function.parameter_bytes + kRegisterAlignment);
  frame->function = &function;
  frame->registers = aligned(frame->memory.data());
  frame->parameters = frame->registers + registers;
  frame->depth = depth;
  frame->local_begin = local_begin;
  fill_constants(*frame);
  fill_launch_specials(*launch_, *warp_, *frame);
  refresh(*frame);
  return *frame;
}

void WarpFrames::refresh(Owned& frame) {
  if (frame.block_serial == block_serial_) return;
  fill_block_specials(*launch_, *warp_, frame);
  frame.block_serial = block_serial_;
}

void WarpFrames::prepare(const Launch& launch, Warp& warp) {
  launch_ = &launch;
  warp_ = &warp;
  block_serial_ = 1;
  levels_.clear();
  make(*launch.request.kernel.main, 0, 0);
}

void WarpFrames::start_block() {
  ++block_serial_;
  refresh(*levels_[0][0]);
}

Frame& WarpFrames::enter(const Function& function, std::uint32_t depth, std::uint32_t local_begin) {
  if (depth < levels_.size()) {
    for (const std::unique_ptr<Owned>& frame : levels_[depth]) {
      if (frame->function != &function) continue;
      if (frame->local_begin != local_begin) continue;
      refresh(*frame);
      return *frame;
    }
  }
  return make(function, depth, local_begin);
}

}  // namespace halfgrad::emulator
