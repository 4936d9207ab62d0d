// NCCL's calls in order with streams, in graphs, aborted, and with wrong arguments.
#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include "ranks.h"

namespace {

using Floats = std::vector<float>;

TEST(Nccl, IsOrderedByStreams) {
  Ranks ranks(3);
  ranks.threads([](Rank& rank) {
    float* const data = rank.array(Floats{0});
    float* pinned = nullptr;
    MUST(cudaMallocHost(&pinned, 2 * sizeof(float)));
    pinned[0] = static_cast<float>(rank.index + 1);
    cudaStream_t second = nullptr;
    cudaEvent_t event = nullptr;
    MUST(cudaStreamCreateWithFlags(&second, cudaStreamNonBlocking));
    MUST(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
    MUST(cudaMemcpyAsync(data, pinned, sizeof(float), cudaMemcpyHostToDevice, rank.stream));
    MUST(ncclAllReduce(data, data, 1, ncclFloat32, ncclSum, rank.comm, rank.stream));
    MUST(cudaEventRecord(event, rank.stream));
    MUST(cudaStreamWaitEvent(second, event, 0));
    MUST(cudaMemcpyAsync(pinned + 1, data, sizeof(float), cudaMemcpyDeviceToHost, second));
    MUST(cudaStreamSynchronize(second));
    EXPECT_EQ(pinned[1], 6);
    MUST(cudaStreamDestroy(second));
    MUST(cudaEventDestroy(event));
    MUST(cudaFreeHost(pinned));
  });
}

TEST(Nccl, JoinsTheStreamsOfAGroup) {
  Ranks ranks(2);
  ranks.threads([](Rank& rank) {
    float *const a = rank.array(Floats{1}), *const b = rank.array(Floats{0});
    cudaStream_t second = nullptr;
    MUST(cudaStreamCreateWithFlags(&second, cudaStreamNonBlocking));
    MUST(cudaMemcpyAsync(b, a, sizeof(float), cudaMemcpyDeviceToDevice, second));
    MUST(ncclGroupStart());
    MUST(ncclAllReduce(a, a, 1, ncclFloat32, ncclSum, rank.comm, rank.stream));
    MUST(ncclAllReduce(b, b, 1, ncclFloat32, ncclSum, rank.comm, second));
    MUST(ncclGroupEnd());
    MUST(cudaMemcpyAsync(a, b, sizeof(float), cudaMemcpyDeviceToDevice, second));
    MUST(cudaStreamSynchronize(second));
    EXPECT_EQ(rank.values(a, 1), Floats{2});
    MUST(cudaStreamDestroy(second));
  });
}

TEST(Nccl, IsCapturedInGraphs) {
  Ranks ranks(2);
  ranks.threads([](Rank& rank) {
    float* const data = rank.array(Floats{1, 2});
    cudaGraph_t graph = nullptr;
    cudaGraphExec_t exec = nullptr;
    MUST(cudaStreamBeginCapture(rank.stream, cudaStreamCaptureModeThreadLocal));
    MUST(ncclAllReduce(data, data, 2, ncclFloat32, ncclSum, rank.comm, rank.stream));
    MUST(cudaStreamEndCapture(rank.stream, &graph));
    MUST(cudaGraphInstantiate(&exec, graph, 0));
    for (int i = 0; i < 3; ++i) MUST(cudaGraphLaunch(exec, rank.stream));
    EXPECT_EQ(rank.values(data, 2), (Floats{8, 16}));
    MUST(cudaGraphExecDestroy(exec));
    MUST(cudaGraphDestroy(graph));
  });
}

TEST(Nccl, AbortEndsWhatWaits) {
  Ranks ranks(2);
  float* const data = ranks[0].array(Floats{1});
  MUST(ncclAllReduce(data, data, 1, ncclFloat32, ncclSum, ranks[0].comm, ranks[0].stream));
  EXPECT_EQ(cudaStreamQuery(ranks[0].stream), cudaErrorNotReady);
  std::thread other([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    MUST(ncclCommAbort(ranks[0].comm));
  });
  MUST(cudaSetDevice(0));
  MUST(cudaStreamSynchronize(ranks[0].stream));
  other.join();
  ranks[0].comm = nullptr;
  ncclResult_t error = ncclSuccess;
  MUST(ncclCommGetAsyncError(ranks[1].comm, &error));
  EXPECT_EQ(error, ncclRemoteError);
}

TEST(Nccl, RefusesWrongArguments) {
  Ranks ranks(2);
  Rank& rank = ranks[0];
  float* const data = rank.array(Floats{1, 2, 3});
  const auto sum = [&](const void* in, void* out, ncclDataType_t type, ncclRedOp_t op) {
    return ncclAllReduce(in, out, 2, type, op, rank.comm, rank.stream);
  };
  EXPECT_EQ(sum(nullptr, data, ncclFloat32, ncclSum), ncclInvalidArgument);
  EXPECT_EQ(sum(data, data, ncclNumTypes, ncclSum), ncclInvalidArgument);
  EXPECT_EQ(sum(data, data, ncclFloat32, ncclNumOps), ncclInvalidArgument);
  EXPECT_EQ(sum(data, data + 1, ncclFloat32, ncclSum), ncclInvalidArgument);
  EXPECT_NE(std::string(ncclGetLastError(rank.comm)).find("overlap"), std::string::npos);
  EXPECT_EQ(ncclBroadcast(data, data, 1, ncclFloat32, 2, rank.comm, rank.stream),
            ncclInvalidArgument);
  EXPECT_EQ(ncclAllReduce(data, data, 1, ncclFloat32, ncclSum, nullptr, rank.stream),
            ncclInvalidArgument);
  EXPECT_EQ(ncclGroupEnd(), ncclInvalidUsage);
  ncclComm_t comm = nullptr;
  const int same[] = {1, 1};
  EXPECT_EQ(ncclCommInitAll(&comm, 2, same), ncclInvalidUsage);
  EXPECT_STREQ(ncclGetErrorString(ncclInvalidUsage), "invalid usage");
  int version = 0;
  MUST(ncclGetVersion(&version));
  EXPECT_EQ(version, NCCL_VERSION_CODE);
}

}  // namespace
