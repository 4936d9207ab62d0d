// Wrong programs of two ranks: the argument chooses one. The emulator must find it.
#include <cstring>

#include "ranks.h"

namespace {

using Floats = std::vector<float>;

ncclResult_t add(Rank& rank, float* data, std::size_t count = 4) {
  return ncclAllReduce(data, data, count, ncclFloat32, ncclSum, rank.comm, rank.stream);
}
bool is_first(const Rank& rank) { return rank.index == 0; }

void counts_differ(Rank& rank) { add(rank, rank.array(Floats(4)), is_first(rank) ? 4 : 3); }
void types_differ(Rank& rank) {
  float* const data = rank.array(Floats(4));
  ncclAllReduce(data, data, 4, is_first(rank) ? ncclFloat32 : ncclInt32, ncclSum, rank.comm,
                rank.stream);
}
void collectives_differ(Rank& rank) {
  float* const data = rank.array(Floats(4));
  is_first(rank) ? add(rank, data)
                 : ncclBroadcast(data, data, 4, ncclFloat32, 0, rank.comm, rank.stream);
}
void roots_differ(Rank& rank) {
  float* const data = rank.array(Floats(4));
  ncclBroadcast(data, data, 4, ncclFloat32, rank.index, rank.comm, rank.stream);
}
void transfers_differ(Rank& rank) {
  float* const data = rank.array(Floats(4));
  is_first(rank) ? ncclSend(data, 4, ncclFloat32, 1, rank.comm, rank.stream)
                 : ncclRecv(data, 2, ncclFloat32, 0, rank.comm, rank.stream);
}
void call_is_missing(Rank& rank) {
  float* const data = rank.array(Floats(4));
  if (is_first(rank)) add(rank, data);
  cudaStreamSynchronize(rank.stream);
}
void receive_is_missing(Rank& rank) {
  float* const data = rank.array(Floats(4));
  if (is_first(rank)) ncclSend(data, 4, ncclFloat32, 1, rank.comm, rank.stream);
  cudaStreamSynchronize(rank.stream);
}
void orders_differ(Rank& rank) {
  float* const data = rank.array(Floats(4));
  const int peer = 1 - rank.index;  // both send first, outside of a group
  ncclSend(data, 1, ncclFloat32, peer, rank.comm, rank.stream);
  ncclRecv(data + 1, 1, ncclFloat32, peer, rank.comm, rank.stream);
  cudaStreamSynchronize(rank.stream);
}
void buffer_is_too_small(Rank& rank) { add(rank, rank.array(Floats(4)), 5); }
void input_is_not_written(Rank& rank) {
  float* data = nullptr;
  cudaMalloc(&data, 4 * sizeof(float));
  rank.arrays.push_back(data);
  add(rank, data);
}
void streams_race(Rank& rank) {
  float* const data = rank.array(Floats(4));
  cudaStream_t second = nullptr;
  cudaStreamCreateWithFlags(&second, cudaStreamNonBlocking);
  cudaMemsetAsync(data, 0, 4 * sizeof(float), second);
  add(rank, data);
  cudaStreamSynchronize(rank.stream);
  cudaStreamSynchronize(second);
  cudaStreamDestroy(second);
}
void memory_is_freed(Rank& rank) {
  float* data = nullptr;
  cudaMalloc(&data, 4 * sizeof(float));
  cudaMemset(data, 0, 4 * sizeof(float));
  cudaFree(data);
  add(rank, data);
}

struct Mistake {
  const char* name;
  void (*run)(Rank& rank);
};
constexpr Mistake kMistakes[] = {{"counts_differ", counts_differ},
                                 {"types_differ", types_differ},
                                 {"collectives_differ", collectives_differ},
                                 {"roots_differ", roots_differ},
                                 {"transfers_differ", transfers_differ},
                                 {"call_is_missing", call_is_missing},
                                 {"receive_is_missing", receive_is_missing},
                                 {"orders_differ", orders_differ},
                                 {"buffer_is_too_small", buffer_is_too_small},
                                 {"input_is_not_written", input_is_not_written},
                                 {"streams_race", streams_race},
                                 {"memory_is_freed", memory_is_freed}};

/// Both ranks in one thread, without a group.
void group_is_missing(Ranks& ranks) {
  for (int r = 0; r < 2; ++r) add(ranks[r], ranks[r].array(Floats(4)));
}
void memory_is_of_another_device(Ranks& ranks) {
  float* const data[] = {ranks[0].array(Floats(4)), ranks[1].array(Floats(4))};
  ranks.group([&](Rank& rank) { add(rank, data[1 - rank.index]); });
}
/// Each rank waits in the other's communicator.
void communicators_cross(Ranks& ranks) {
  Ranks others(2);
  ranks.threads([&](Rank& rank) {
    float* const data = rank.array(Floats(4));
    Rank other = others[rank.index];
    other.stream = rank.stream;
    add(is_first(rank) ? rank : other, data);
    add(is_first(rank) ? other : rank, data);
    cudaStreamSynchronize(rank.stream);
  });
}

}  // namespace

int main(int, char** arguments) {
  const char* const name = arguments[1];
  Ranks ranks(2);
  for (const Mistake& mistake : kMistakes) {
    if (std::strcmp(mistake.name, name) == 0) ranks.threads(mistake.run);
  }
  if (std::strcmp(name, "group_is_missing") == 0) group_is_missing(ranks);
  if (std::strcmp(name, "memory_is_of_another_device") == 0) memory_is_of_another_device(ranks);
  if (std::strcmp(name, "communicators_cross") == 0) communicators_cross(ranks);
}
