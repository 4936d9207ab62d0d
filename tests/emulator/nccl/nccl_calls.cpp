// A program that uses NCCL on three devices, linked with the stand-ins, against sums on the host.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>

#include "ranks.h"

namespace {

using Floats = std::vector<float>;

constexpr int kRanks = 3;

/// Element i of rank r: 1 to 5, so that sums, products and averages of three are exact.
template <class T>
T element(int rank, std::size_t i) {
  return static_cast<T>(static_cast<int>(i * 7 + static_cast<std::size_t>(rank) * 3) % 5 + 1);
}
template <class T>
std::vector<T> elements(int rank, std::size_t count) {
  std::vector<T> values(count);
  for (std::size_t i = 0; i < count; ++i) values[i] = element<T>(rank, i);
  return values;
}

template <class T>
T combined(ncclRedOp_t op, std::size_t i) {
  T result = element<T>(0, i);
  for (int r = 1; r < kRanks; ++r) {
    const T x = element<T>(r, i);
    result = static_cast<T>(op == ncclProd  ? result * x
                            : op == ncclMax ? std::max(result, x)
                            : op == ncclMin ? std::min(result, x)
                                            : result + x);
  }
  return op == ncclAvg ? static_cast<T>(result / static_cast<T>(kRanks)) : result;
}

template <class T>
void reduces(ncclDataType_t type) {
  constexpr std::size_t kCount = 100;
  for (const ncclRedOp_t op : {ncclSum, ncclProd, ncclMax, ncclMin, ncclAvg}) {
    Ranks ranks(kRanks);
    ranks.group([&](Rank& rank) {
      T* const data = rank.array(elements<T>(rank.index, kCount));
      MUST(ncclAllReduce(data, data, kCount, type, op, rank.comm, rank.stream));
    });
    for (int r = 0; r < kRanks; ++r) {
      const std::vector<T> result = ranks[r].values(static_cast<T*>(ranks[r].arrays[0]), kCount);
      for (std::size_t i = 0; i < kCount; ++i) {
        const double expected = static_cast<double>(combined<T>(op, i));
        ASSERT_NEAR(static_cast<double>(result[i]), expected, op == ncclAvg ? 1e-6 : 0)
            << "type " << type << " op " << op << " element " << i;
      }
    }
  }
}

TEST(Nccl, ReducesEveryType) {
  reduces<std::int8_t>(ncclInt8);
  reduces<std::uint8_t>(ncclUint8);
  reduces<std::int32_t>(ncclInt32);
  reduces<std::uint32_t>(ncclUint32);
  reduces<std::int64_t>(ncclInt64);
  reduces<std::uint64_t>(ncclUint64);
  reduces<float>(ncclFloat32);
  reduces<double>(ncclFloat64);
}

TEST(Nccl, ReducesSmallFloats) {
  struct Case {
    ncclDataType_t type;
    std::vector<std::uint8_t> one, three;  // the bytes of 1 and of 1 + 1 + 1
  };
  const Case cases[] = {{ncclFloat16, {0x00, 0x3c}, {0x00, 0x42}},
                        {ncclBfloat16, {0x80, 0x3f}, {0x40, 0x40}},
                        {ncclFloat8e4m3, {0x38}, {0x44}},
                        {ncclFloat8e5m2, {0x3c}, {0x42}}};
  for (const Case& one : cases) {
    Ranks ranks(kRanks);
    ranks.group([&](Rank& rank) {
      std::uint8_t* const data = rank.array(one.one);
      MUST(ncclAllReduce(data, data, 1, one.type, ncclSum, rank.comm, rank.stream));
    });
    for (int r = 0; r < kRanks; ++r) {
      const auto* data = static_cast<std::uint8_t*>(ranks[r].arrays[0]);
      EXPECT_EQ(ranks[r].values(data, one.one.size()), one.three) << "type " << one.type;
    }
  }
}

TEST(Nccl, AddsInTheOrderOfARing) {
  const float of_ranks[] = {1e8f, 1, -1e8f};
  Ranks ranks(kRanks);
  ranks.group([&](Rank& rank) {
    float* const data = rank.array(Floats(3, of_ranks[rank.index]));
    MUST(ncclAllReduce(data, data, 3, ncclFloat32, ncclSum, rank.comm, rank.stream));
  });
  // (1 - 1e8) + 1e8, (-1e8 + 1e8) + 1, (1e8 + 1) - 1e8
  EXPECT_EQ(ranks[0].values(static_cast<float*>(ranks[0].arrays[0]), 3), (Floats{0, 1, 0}));
}

TEST(Nccl, MultipliesBeforeItAdds) {
  Ranks ranks(2);
  ranks.group([&](Rank& rank) {
    float factor = rank.index == 0 ? 2.0f : 10.0f;
    ncclRedOp_t op{};
    MUST(ncclRedOpCreatePreMulSum(&op, &factor, ncclFloat32, ncclScalarHostImmediate, rank.comm));
    float* const data = rank.array(Floats{1, 2});
    MUST(ncclAllReduce(data, data, 2, ncclFloat32, op, rank.comm, rank.stream));
    MUST(ncclRedOpDestroy(op, rank.comm));
  });
  for (int r = 0; r < 2; ++r) {
    const Floats result = ranks[r].values(static_cast<float*>(ranks[r].arrays[0]), 2);
    EXPECT_EQ(result[1], 2 * result[0]);
  }
}

/// Input and output of a rank for a collective of two elements a rank, in three threads.
Floats run(Ranks& ranks, int rank, std::size_t inputs, std::size_t outputs,
           const std::function<void(Rank&, float*, float*)>& call) {
  std::vector<float*> results(kRanks);
  ranks.threads([&](Rank& each) {
    Floats values(inputs);
    for (std::size_t i = 0; i < inputs; ++i) {
      values[i] = static_cast<float>(each.index * 10) + static_cast<float>(i);
    }
    float* const input = each.array(values);
    float* const output = each.array(Floats(outputs, -1));
    results[static_cast<std::size_t>(each.index)] = output;
    call(each, input, output);
    MUST(cudaStreamSynchronize(each.stream));
  });
  return ranks[rank].values(results[static_cast<std::size_t>(rank)], outputs);
}

TEST(Nccl, MovesElements) {
  Ranks ranks(kRanks);
  EXPECT_EQ(run(ranks, 1, 2, 2,
                [](Rank& r, float* in, float* out) {
                  MUST(ncclBroadcast(in, out, 2, ncclFloat32, 2, r.comm, r.stream));
                }),
            (Floats{20, 21}));
  EXPECT_EQ(run(ranks, 2, 2, 6,
                [](Rank& r, float* in, float* out) {
                  MUST(ncclAllGather(in, out, 2, ncclFloat32, r.comm, r.stream));
                }),
            (Floats{0, 1, 10, 11, 20, 21}));
  EXPECT_EQ(run(ranks, 2, 6, 2,
                [](Rank& r, float* in, float* out) {
                  MUST(ncclReduceScatter(in, out, 2, ncclFloat32, ncclSum, r.comm, r.stream));
                }),
            (Floats{42, 45}));
  EXPECT_EQ(run(ranks, 1, 6, 6,
                [](Rank& r, float* in, float* out) {
                  MUST(ncclAlltoAll(in, out, 2, ncclFloat32, r.comm, r.stream));
                }),
            (Floats{2, 3, 12, 13, 22, 23}));
  const auto reduce = [](Rank& r, float* in, float* out) {
    MUST(ncclReduce(in, out, 2, ncclFloat32, ncclMax, 1, r.comm, r.stream));
  };
  EXPECT_EQ(run(ranks, 1, 2, 2, reduce), (Floats{20, 21}));
  EXPECT_EQ(run(ranks, 0, 2, 2, reduce), (Floats{-1, -1}));
  EXPECT_EQ(run(ranks, 0, 2, 6,
                [](Rank& r, float* in, float* out) {
                  MUST(ncclGather(in, out, 2, ncclFloat32, 0, r.comm, r.stream));
                }),
            (Floats{0, 1, 10, 11, 20, 21}));
  EXPECT_EQ(run(ranks, 2, 6, 2,
                [](Rank& r, float* in, float* out) {
                  MUST(ncclScatter(in, out, 2, ncclFloat32, 1, r.comm, r.stream));
                }),
            (Floats{14, 15}));
}

TEST(Nccl, GathersAndScattersInPlace) {
  Ranks ranks(kRanks);
  ranks.group([](Rank& rank) {
    float* const all = rank.array(Floats(3, static_cast<float>(rank.index)));
    MUST(ncclAllGather(all + rank.index, all, 1, ncclFloat32, rank.comm, rank.stream));
  });
  ranks.group([](Rank& rank) {
    auto* const all = static_cast<float*>(rank.arrays[0]);
    MUST(ncclReduceScatter(all, all + rank.index, 1, ncclFloat32, ncclSum, rank.comm, rank.stream));
  });
  EXPECT_EQ(ranks[1].values(static_cast<float*>(ranks[1].arrays[0]), 3), (Floats{0, 3, 2}));
}

TEST(Nccl, SendsAndReceives) {
  Ranks ranks(kRanks);
  ranks.threads([](Rank& rank) {
    float* const data = rank.array(Floats{static_cast<float>(rank.index), -1});
    const int next = (rank.index + 1) % kRanks, previous = (rank.index + 2) % kRanks;
    MUST(ncclGroupStart());
    MUST(ncclSend(data, 1, ncclFloat32, next, rank.comm, rank.stream));
    MUST(ncclRecv(data + 1, 1, ncclFloat32, previous, rank.comm, rank.stream));
    MUST(ncclGroupEnd());
    EXPECT_EQ(rank.values(data, 2)[1], static_cast<float>(previous));
  });
}

TEST(Nccl, FindsRanksByTheirId) {
  ncclUniqueId id;
  MUST(ncclGetUniqueId(&id));
  Ranks other(kRanks);
  other.threads([&](Rank& rank) {
    ncclComm_t comm = nullptr;
    MUST(ncclCommInitRank(&comm, kRanks, id, rank.index));
    int count = 0, index = -1, device = -1;
    MUST(ncclCommCount(comm, &count));
    MUST(ncclCommUserRank(comm, &index));
    MUST(ncclCommCuDevice(comm, &device));
    EXPECT_EQ(count, kRanks);
    EXPECT_EQ(index, rank.index);
    EXPECT_EQ(device, rank.index);
    float* const data = rank.array(Floats{1});
    MUST(ncclAllReduce(data, data, 1, ncclFloat32, ncclSum, comm, rank.stream));
    EXPECT_EQ(rank.values(data, 1), Floats{kRanks});
    MUST(ncclCommFinalize(comm));
    EXPECT_EQ(ncclAllReduce(data, data, 1, ncclFloat32, ncclSum, comm, rank.stream),
              ncclInvalidUsage);
    MUST(ncclCommDestroy(comm));
  });
}

}  // namespace
