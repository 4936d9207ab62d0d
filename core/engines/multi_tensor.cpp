#include <halfgrad/core/engines/multi_tensor.h>

#include <unordered_map>

#include <halfgrad/core/thread_pool.h>

namespace halfgrad::detail {
namespace {

constexpr std::int64_t kChunk = 16 * kTile;

// Sets `begin` of each group of transitively overlapping ranges to the first `begin` of the group.
// Returns false if no ranges overlap.
bool join_overlapping(std::vector<WrittenMemory>& written) {
  std::sort(written.begin(), written.end(),
            [](const auto& a, const auto& b) { return a.begin < b.begin; });
  bool any = false;
  std::uintptr_t begin = 0, end = 0;
  for (WrittenMemory& memory : written) {
    const bool overlaps = memory.begin < end;
    begin = memory.begin = overlaps ? begin : memory.begin;
    end = std::max(end, memory.end);
    any = any || overlaps;
  }
  return any;
}

}  // namespace

void add_written(std::vector<WrittenMemory>& written, const Array& operand, std::size_t index) {
  const auto [begin, end] = memory_of(operand);
  if (begin < end) written.push_back({begin, end, index});
}

std::vector<std::size_t> passes_of(std::vector<WrittenMemory> written, std::size_t count) {
  if (!join_overlapping(written)) return {};
  std::vector<std::vector<std::uintptr_t>> memory_of(count);
  for (const WrittenMemory& memory : written) memory_of[memory.index].push_back(memory.begin);
  std::vector<std::size_t> passes(count);
  std::unordered_map<std::uintptr_t, std::size_t> next;  // next free pass for the range
  for (std::size_t i = 0; i < count; ++i) {
    for (const auto begin : memory_of[i]) passes[i] = std::max(passes[i], next[begin]);
    for (const auto begin : memory_of[i]) next[begin] = passes[i] + 1;
  }
  return passes;
}

std::vector<Chunk> chunks_of(std::span<const std::int64_t> sizes) {
  std::vector<Chunk> chunks;
  for (std::size_t index = 0; index < sizes.size(); ++index) {
    for (std::int64_t begin = 0; begin < sizes[index]; begin += kChunk) {
      chunks.push_back({index, begin, std::min(begin + kChunk, sizes[index])});
    }
  }
  return chunks;
}

void run_chunk_list(const std::vector<Chunk>& chunks, void (*run)(const void*, const Chunk&),
                    const void* context) {
  const auto count = static_cast<std::int64_t>(chunks.size());
  std::int64_t elements = 0;
  for (const Chunk& chunk : chunks) elements += chunk.end - chunk.begin;
  const std::int64_t grain = elements <= kGrain ? std::max<std::int64_t>(count, 1) : 1;
  parallel_for(0, count, grain, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) run(context, chunks[static_cast<std::size_t>(i)]);
  });
}

}  // namespace halfgrad::detail
