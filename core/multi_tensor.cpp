#include <halfgrad/core/multi_tensor.h>

#include <halfgrad/core/thread_pool.h>

namespace halfgrad::detail {
namespace {

constexpr std::int64_t kChunk = 16 * kTile;

}  // namespace

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
