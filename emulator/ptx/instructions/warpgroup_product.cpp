// wgmma.mma_async and the instructions that order it (PTX ISA, "Asynchronous Warpgroup Level Matrix
// Multiply-Accumulate Instructions").
//
// A product is computed when it is issued, the earliest time that the ISA allows, with the model of
// a tensor core of matrix_product.cpp. Until its warp waits for its group it may still read shared
// memory: the check of races sees its loads once at the issue and once at the wait, and reports
// each store to these bytes between the two.
#include <algorithm>
#include <array>
#include <span>
#include <string>
#include <utility>

#include <halfgrad/emulator/checks/launch_checks.h>
#include <halfgrad/emulator/checks/report.h>
#include <halfgrad/emulator/memory/access_site.h>
#include <halfgrad/emulator/ptx/instructions/matrix_values.h>
#include <halfgrad/emulator/ptx/instructions/operand_chunks.h>
#include <halfgrad/emulator/ptx/instructions/warp.h>
#include <halfgrad/emulator/ptx/instructions/warpgroup_product.h>
#include <halfgrad/emulator/simt/launch.h>
#include <halfgrad/emulator/simt/warp.h>

namespace halfgrad::emulator {
namespace {

constexpr unsigned kRowsOfWarp = 16, kColumnsOfBlock = 8;
constexpr unsigned kMostDepth = 32;  // elements or words along k

constexpr Access kLoadOfChunk{.space = Space::shared,
                              .kind = AccessKind::load,
                              .bytes = kChunkBytes,
                              .alignment = kChunkBytes,
                              .asynchronous = true};

/// Calls f(lanes, addresses, begin) for up to 32 chunks at a time, one a lane.
template <class F>
void each_warp_of_chunks(const OperandChunks& chunks, F f) {
  const auto all = chunks.addresses();
  for (unsigned begin = 0; begin < all.size(); begin += kWarpSize) {
    const unsigned count = std::min(kWarpSize, static_cast<unsigned>(all.size()) - begin);
    LaneAddresses addresses{};
    for (unsigned i = 0; i < count; ++i) addresses[i] = all[begin + i];
    f(kAllLanes >> (kWarpSize - count), addresses, begin);
  }
}

/// Reads the chunks and calls f(chunk index, bytes).
template <class F>
void read_chunks(const Execution& execution, const Instruction& instruction,
                 const OperandChunks& chunks, F f) {
  Execution part = execution;
  each_warp_of_chunks(chunks, [&](LaneMask lanes, const LaneAddresses& addresses, unsigned begin) {
    part.mask = lanes;
    const HostPointers places = resolve(part, instruction, kLoadOfChunk, addresses);
    each_lane(lanes, [&](unsigned lane) { f(begin + lane, places.lane[lane]); });
  });
}

/// Lets the checks see loads that may happen as late as now.
void check_again(Execution& execution, const Instruction& instruction,
                 const OperandChunks& chunks) {
  Execution part = execution;
  each_warp_of_chunks(chunks, [&](LaneMask lanes, const LaneAddresses& addresses, unsigned) {
    part.mask = lanes;
    HostPointers places;
    each_lane(lanes, [&](unsigned lane) {
      places.lane[lane] = execution.block->shared.data() + addresses[lane];
    });
    execution.launch->checks->access(part, instruction, kLoadOfChunk, addresses, places, nullptr);
  });
}

/// The 64-bit source i, which all lanes must agree on.
std::uint64_t descriptor(const Execution& execution, const Instruction& instruction, unsigned i) {
  const auto* bits = execution.lanes<std::uint64_t>(instruction.source(i));
  const bool check = execution.launch->machine.settings.check_sync;
  for (unsigned lane = 1; lane < kWarpSize && check; ++lane) {
    if (bits[lane] == bits[0]) continue;
    report(execution, instruction, lane, FindingKind::warp_sync,
           "the matrix descriptor differs from that of lane 0: expected " + hexadecimal(bits[0]) +
               ", got " + hexadecimal(bits[lane]));
    break;
  }
  return bits[0];
}

MatrixDescriptor decoded(const Execution& execution, const Instruction& instruction,
                         std::uint64_t bits) {
  const MatrixDescriptor matrix = MatrixDescriptor::from_bits(bits);
  if (matrix.base_offset != 0) {
    abort_kernel(execution, instruction, 0, FindingKind::unknown_instruction,
                 "a matrix descriptor with a base offset, which the emulator does not know: align "
                 "the swizzle's pattern, to 1024 bytes for one of 128 bytes");
  }
  return matrix;
}

OperandChunks chunks_of_a(const WarpgroupProduct& form, const MatrixDescriptor& matrix,
                          unsigned warp) {
  return OperandChunks(matrix, form.major_a, warp % kWarpsOfGroup * kRowsOfWarp, kRowsOfWarp);
}

OperandChunks chunks_of_b(const WarpgroupProduct& form, const MatrixDescriptor& matrix) {
  return OperandChunks(matrix, form.major_b, 0, form.blocks * kColumnsOfBlock);
}

/// Calls f(chunks) for B, and for A unless it is in registers.
template <class F>
void each_operand(const Execution& execution, const PendingProduct& pending, F f) {
  const WarpgroupProduct& form = *pending.instruction->options<WarpgroupOptions>().product;
  f(chunks_of_b(form, MatrixDescriptor::from_bits(pending.b)));
  if (form.a_in_registers) return;
  f(chunks_of_a(form, MatrixDescriptor::from_bits(pending.a), execution.warp->index));
}

/// Elements of a chunk, or its words of b1.
unsigned elements_of_chunk(Element type) {
  return type == Element::b1 ? kChunkBytes / 4 : kChunkBytes * 8 / bits_of(type);
}

/// Calls put(row, k, value) for the elements of an operand in shared memory. Row 0 is the first
/// that the chunks have.
template <class T, class F>
void each_element(const Execution& execution, const Instruction& instruction, Element type,
                  Major major, unsigned rows, const OperandChunks& chunks, F put) {
  const unsigned count = elements_of_chunk(type);
  read_chunks(execution, instruction, chunks, [&](unsigned i, const std::byte* bytes) {
    T values[kChunkBytes];
    read_chunk(type, bytes, values);
    const unsigned per_k = rows / kElementsOf16Bits;
    for (unsigned j = 0; j < count; ++j) {
      if (major == Major::k) {
        put(i / kChunksAlongK, i % kChunksAlongK * count + j, values[j]);
      } else {
        put(i % per_k * count + j, i / per_k, values[j]);
      }
    }
  });
}

bool keeps_d(const Execution& execution, const Instruction& instruction,
             const WarpgroupOptions& options) {
  if (options.scale_d == ScaleD::zero || options.scale_d == ScaleD::one) {
    return options.scale_d == ScaleD::one;
  }
  const unsigned predicate = options.product->a_in_registers ? 1 : 2;
  const bool set = (execution.predicate(instruction.source(predicate)) & 1) != 0;
  return set == (options.scale_d == ScaleD::predicate);
}

/// Computes the rows of the warp. T is the type of a product's values.
template <class T>
void multiply(const Execution& execution, const Instruction& instruction,
              const PendingProduct& pending) {
  const auto& options = instruction.options<WarpgroupOptions>();
  const WarpgroupProduct& form = *options.product;
  const Product& block = form.block;
  const unsigned depth = block.layout_a->columns, registers_of_d = block.layout_d->registers;
  const Offset* d = instruction.list.data();

  alignas(64) T a[kRowsOfWarp * kMostDepth];
  const T sign_a = form.negates_a ? T(-1) : T(1), sign_b = form.negates_b ? T(-1) : T(1);
  if (form.a_in_registers) {
    unpack_fragment(execution, d + std::size_t{form.blocks} * registers_of_d, *block.layout_a,
                    block.a, a);
    for (unsigned i = 0; i < kRowsOfWarp * depth; ++i) a[i] *= sign_a;
  } else {
    const MatrixDescriptor matrix = decoded(execution, instruction, pending.a);
    each_element<T>(execution, instruction, block.a, form.major_a, kRowsOfWarp,
                    chunks_of_a(form, matrix, execution.warp->index),
                    [&](unsigned row, unsigned k, T x) { a[row * depth + k] = sign_a * x; });
  }
  alignas(64) T b[kMostDepth * 256];  // one matrix of depth x 8 after the other
  const MatrixDescriptor matrix = decoded(execution, instruction, pending.b);
  each_element<T>(execution, instruction, block.b, form.major_b, form.blocks * kColumnsOfBlock,
                  chunks_of_b(form, matrix), [&](unsigned column, unsigned k, T x) {
                    const unsigned begin = column / kColumnsOfBlock * depth * kColumnsOfBlock;
                    b[begin + k * kColumnsOfBlock + column % kColumnsOfBlock] = sign_b * x;
                  });
  const bool adds = keeps_d(execution, instruction, options);
  for (unsigned i = 0; i < form.blocks; ++i) {
    alignas(64) T sum[kRowsOfWarp * kColumnsOfBlock] = {};
    const Offset* registers = d + std::size_t{i} * registers_of_d;
    if (adds) unpack_fragment(execution, registers, *block.layout_d, block.d, sum);
    add_product(block, a, b + i * depth * kColumnsOfBlock, sum);
    pack_fragment(execution, registers, *block.layout_d, block.d, sum);
  }
}

void check_warpgroup(const Execution& execution, const Instruction& instruction) {
  check_whole_warp(execution, instruction);
  const std::size_t warps = execution.block->warps.size();
  if (execution.warp->index / kWarpsOfGroup * kWarpsOfGroup + kWarpsOfGroup > warps) {
    abort_kernel(execution, instruction, 0, FindingKind::warp_sync,
                 "expected a warpgroup of 4 warps, 128 threads, got a block of " +
                     std::to_string(execution.block->threads) + " threads");
  }
  if (!execution.warp->products.fenced && execution.launch->machine.settings.check_sync) {
    report(execution, instruction, 0, FindingKind::warp_sync,
           "the first product of a warp comes without wgmma.fence before it, so it may read the "
           "registers before they are written");
    execution.warp->products.fenced = true;
  }
}

}  // namespace

void execute_warpgroup_product(Execution& execution, const Instruction& instruction) {
  check_warpgroup(execution, instruction);
  const WarpgroupProduct& form = *instruction.options<WarpgroupOptions>().product;
  PendingProduct pending{.function = execution.frame->function, .instruction = &instruction};
  pending.b = descriptor(execution, instruction, 0);
  if (!form.a_in_registers) pending.a = descriptor(execution, instruction, 1);
  if (is_integer(form.block.a)) {
    multiply<std::int32_t>(execution, instruction, pending);
  } else {
    multiply<double>(execution, instruction, pending);
  }
  if (LaunchChecks* const checks = execution.launch->checks.get()) {
    each_operand(execution, pending, [&](const OperandChunks& chunks) {
      checks->async_read_issued(execution, instruction, AsyncReader::product, 0,
                                chunks.addresses());
    });
  }
  WarpgroupProducts& products = execution.warp->products;
  pending.number = ++products.issued;
  products.open.push_back(pending);
  products.last = pending;
  if (execution.launch->machine.settings.check_sync) {
    products.registers.add(execution, instruction, form.blocks * form.block.layout_d->registers,
                           pending.number);
  }
  counters_of(execution, instruction).flops +=
      2ull * kRowsOfWarp * kColumnsOfBlock * form.blocks * form.block.shape.k;
}

void execute_warpgroup_fence(Execution& execution, const Instruction& instruction) {
  check_whole_warp(execution, instruction);
  execution.warp->products.fenced = true;
}

void execute_warpgroup_commit(Execution& execution, const Instruction& instruction) {
  check_whole_warp(execution, instruction);
  WarpgroupProducts& products = execution.warp->products;
  products.committed.push_back(std::move(products.open));
  products.open.clear();
}

void execute_warpgroup_wait(Execution& execution, const Instruction& instruction) {
  check_whole_warp(execution, instruction);
  auto& committed = execution.warp->products.committed;
  const auto keep = static_cast<std::size_t>(instruction.immediate);
  while (committed.size() > keep) {
    if (!committed.front().empty()) {
      execution.warp->products.registers.finish(committed.front().back().number);
    }
    for (const PendingProduct& pending : committed.front()) {
      LaunchChecks* const checks = execution.launch->checks.get();
      if (checks == nullptr) break;
      // A finding names the product, if this function issued it.
      const bool own = pending.function == execution.frame->function;
      each_operand(execution, pending, [&](const OperandChunks& chunks) {
        checks->async_read_waited(execution, chunks.addresses());
        check_again(execution, own ? *pending.instruction : instruction, chunks);
      });
    }
    committed.erase(committed.begin());
  }
}

}  // namespace halfgrad::emulator
