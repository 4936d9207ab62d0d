#include <gtest/gtest.h>

#include <thread>

#include <halfgrad/tests/emulator/streams/fake_runtime.h>

namespace halfgrad::emulator {
namespace {

using Names = std::vector<std::string>;

struct Capturing : testing::Test {
  void SetUp() override {
    restart();
    cudaStreamCreate(&stream);
    cudaStreamCreate(&other);
    cudaEventCreate(&fork);
    cudaEventCreate(&join);
  }
  void begin(cudaStreamCaptureMode mode = cudaStreamCaptureModeGlobal) {
    ASSERT_EQ(cudaStreamBeginCapture(stream, mode), cudaSuccess);
  }
  /// Ends the capture, expects the error, and returns the number of nodes.
  std::size_t end(cudaError_t expected = cudaSuccess) {
    EXPECT_EQ(cudaStreamEndCapture(stream, &graph), expected);
    EXPECT_EQ(graph == nullptr, expected != cudaSuccess);
    std::size_t nodes = 0;
    if (graph != nullptr) cudaGraphGetNodes(graph, nullptr, &nodes);
    return nodes;
  }
  cudaStream_t stream = nullptr, other = nullptr;
  cudaEvent_t fork = nullptr, join = nullptr;
  cudaGraph_t graph = nullptr;
};

TEST_F(Capturing, WorkBecomesNodesAndDoesNotRun) {
  begin();
  give(stream, "a");
  give(stream, "b");
  cudaStreamCaptureStatus status{};
  EXPECT_EQ(cudaStreamIsCapturing(stream, &status), cudaSuccess);
  EXPECT_EQ(status, cudaStreamCaptureStatusActive);
  EXPECT_EQ(end(), 2u);
  EXPECT_EQ(cudaStreamIsCapturing(stream, &status), cudaSuccess);
  EXPECT_EQ(status, cudaStreamCaptureStatusNone);
  EXPECT_EQ(log(), Names());
  std::size_t edges = 0;
  EXPECT_EQ(cudaGraphGetEdges(graph, nullptr, nullptr, nullptr, &edges), cudaSuccess);
  EXPECT_EQ(edges, 1u);
}

TEST_F(Capturing, EventsForkAndJoin) {
  begin();
  give(stream, "a");
  cudaEventRecord(fork, stream);
  EXPECT_EQ(cudaStreamWaitEvent(other, fork, 0), cudaSuccess);
  give(stream, "b");
  give(other, "c");
  cudaEventRecord(join, other);
  EXPECT_EQ(cudaStreamWaitEvent(stream, join, 0), cudaSuccess);
  give(stream, "d");
  EXPECT_EQ(end(), 4u);
  std::size_t edges = 0, roots = 0;
  cudaGraphGetEdges(graph, nullptr, nullptr, nullptr, &edges);
  cudaGraphGetRootNodes(graph, nullptr, &roots);
  EXPECT_EQ(edges, 4u);
  EXPECT_EQ(roots, 1u);
  EXPECT_EQ(findings_of(FindingKind::capture), 0u);
  give(other, "free again");
  EXPECT_EQ(log(), Names({"free again"}));
}

TEST_F(Capturing, UnjoinedWorkIsAnError) {
  begin();
  cudaEventRecord(fork, stream);
  cudaStreamWaitEvent(other, fork, 0);
  give(other, "c");
  end(cudaErrorStreamCaptureUnjoined);
  EXPECT_EQ(findings_of(FindingKind::capture), 1u);
}

TEST_F(Capturing, AForkedStreamWithoutWorkNeedsNoJoin) {
  begin();
  cudaEventRecord(fork, stream);
  cudaStreamWaitEvent(other, fork, 0);
  give(stream, "a");
  EXPECT_EQ(end(), 1u);
}

TEST_F(Capturing, WaitsForUncapturedWorkAreIsolated) {
  give(other, "a");
  cudaEventRecord(join, other);
  begin();
  EXPECT_EQ(cudaStreamWaitEvent(stream, join, 0), cudaErrorStreamCaptureIsolation);
  EXPECT_EQ(give(stream, "b"), cudaErrorStreamCaptureInvalidated);
  cudaStreamCaptureStatus status{};
  cudaStreamIsCapturing(stream, &status);
  EXPECT_EQ(status, cudaStreamCaptureStatusInvalidated);
  end(cudaErrorStreamCaptureInvalidated);
  EXPECT_EQ(findings_of(FindingKind::capture), 1u);
}

TEST_F(Capturing, TheLegacyStreamMayNotBeUsedMeanwhile) {
  begin(cudaStreamCaptureModeRelaxed);
  EXPECT_EQ(give(nullptr, "legacy"), cudaErrorStreamCaptureImplicit);
  cudaStreamCaptureStatus status{};
  EXPECT_EQ(cudaStreamIsCapturing(cudaStreamLegacy, &status), cudaErrorStreamCaptureImplicit);
  end(cudaErrorStreamCaptureInvalidated);
  EXPECT_EQ(give(nullptr, "legacy"), cudaSuccess);
  EXPECT_EQ(cudaStreamBeginCapture(nullptr, cudaStreamCaptureModeRelaxed),
            cudaErrorStreamCaptureUnsupported);
}

TEST_F(Capturing, NonBlockingStreamsDoNotConcernTheLegacyStream) {
  cudaStream_t apart = nullptr;
  cudaStreamCreateWithFlags(&apart, cudaStreamNonBlocking);
  ASSERT_EQ(cudaStreamBeginCapture(apart, cudaStreamCaptureModeGlobal), cudaSuccess);
  EXPECT_EQ(give(nullptr, "legacy"), cudaSuccess);
  EXPECT_EQ(cudaStreamEndCapture(apart, &graph), cudaSuccess);
}

TEST_F(Capturing, ACapturedStreamCannotBeWaitedFor) {
  begin();
  EXPECT_EQ(cudaStreamSynchronize(stream), cudaErrorStreamCaptureUnsupported);
  end(cudaErrorStreamCaptureInvalidated);
  begin();
  EXPECT_EQ(cudaStreamQuery(stream), cudaErrorStreamCaptureUnsupported);
  end(cudaErrorStreamCaptureInvalidated);
  begin();
  cudaEventRecord(fork, stream);
  EXPECT_EQ(cudaEventSynchronize(fork), cudaErrorCapturedEvent);
  end(cudaErrorStreamCaptureInvalidated);
  begin();
  EXPECT_EQ(refuse_while_device_captures("cudaDeviceSynchronize", 0),
            cudaErrorStreamCaptureUnsupported);
  end(cudaErrorStreamCaptureInvalidated);
  EXPECT_EQ(findings_of(FindingKind::capture), 4u);
}

TEST_F(Capturing, ModesDecideWhoMayCallWhatMaySynchronise) {
  const auto refused_elsewhere = [] {
    cudaError_t error = cudaSuccess;
    std::thread([&] { error = refuse_in_capture("cudaMalloc"); }).join();
    return error;
  };
  begin(cudaStreamCaptureModeRelaxed);
  EXPECT_EQ(refuse_in_capture("cudaMalloc"), cudaSuccess);
  EXPECT_EQ(refused_elsewhere(), cudaSuccess);
  end();
  begin(cudaStreamCaptureModeThreadLocal);
  EXPECT_EQ(refused_elsewhere(), cudaSuccess);
  EXPECT_EQ(refuse_in_capture("cudaMalloc"), cudaErrorStreamCaptureUnsupported);
  end(cudaErrorStreamCaptureInvalidated);
  begin(cudaStreamCaptureModeGlobal);
  EXPECT_EQ(refused_elsewhere(), cudaErrorStreamCaptureUnsupported);
  end(cudaErrorStreamCaptureInvalidated);
  begin(cudaStreamCaptureModeGlobal);
  cudaStreamCaptureMode mode = cudaStreamCaptureModeRelaxed;
  EXPECT_EQ(cudaThreadExchangeStreamCaptureMode(&mode), cudaSuccess);
  EXPECT_EQ(mode, cudaStreamCaptureModeGlobal);
  EXPECT_EQ(refuse_in_capture("cudaMalloc"), cudaSuccess);
  cudaThreadExchangeStreamCaptureMode(&mode);
  end();
}

TEST_F(Capturing, OnlyTheOriginAndItsThreadEndACapture) {
  EXPECT_EQ(cudaStreamEndCapture(stream, &graph), cudaErrorIllegalState);
  begin(cudaStreamCaptureModeThreadLocal);
  EXPECT_EQ(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal), cudaErrorIllegalState);
  std::thread([&] {
    EXPECT_EQ(cudaStreamEndCapture(stream, &graph), cudaErrorStreamCaptureWrongThread);
  }).join();
  cudaEventRecord(fork, stream);
  cudaStreamWaitEvent(other, fork, 0);
  EXPECT_EQ(cudaStreamEndCapture(other, &graph), cudaErrorStreamCaptureUnmatched);
  end(cudaErrorStreamCaptureInvalidated);
}

TEST_F(Capturing, TwoCapturesDoNotMerge) {
  begin();
  ASSERT_EQ(cudaStreamBeginCapture(other, cudaStreamCaptureModeGlobal), cudaSuccess);
  cudaEventRecord(fork, stream);
  EXPECT_EQ(cudaStreamWaitEvent(other, fork, 0), cudaErrorStreamCaptureMerge);
  end(cudaErrorStreamCaptureInvalidated);
  EXPECT_EQ(cudaStreamEndCapture(other, &graph), cudaErrorStreamCaptureInvalidated);
}

TEST_F(Capturing, DependenciesCanBeReadAndReplaced) {
  begin();
  give(stream, "a");
  cudaStreamCaptureStatus status{};
  unsigned long long id = 0;
  cudaGraph_t captured = nullptr;
  const cudaGraphNode_t* nodes = nullptr;
  std::size_t count = 0;
  ASSERT_EQ(cudaStreamGetCaptureInfo(stream, &status, &id, &captured, &nodes, nullptr, &count),
            cudaSuccess);
  ASSERT_EQ(count, 1u);
  EXPECT_NE(id, 0u);
  cudaGraphNode_t empty = nullptr;
  ASSERT_EQ(cudaGraphAddEmptyNode(&empty, captured, nodes, count), cudaSuccess);
  ASSERT_EQ(cudaStreamUpdateCaptureDependencies(stream, &empty, nullptr, 1,
                                                cudaStreamSetCaptureDependencies),
            cudaSuccess);
  give(stream, "b");
  EXPECT_EQ(end(), 3u);
  EXPECT_EQ(graph, captured);
  cudaGraphNode_t from[2] = {}, to[2] = {};
  count = 2;
  EXPECT_EQ(cudaGraphGetEdges(graph, from, to, nullptr, &count), cudaSuccess);
  EXPECT_EQ(count, 2u);
  EXPECT_EQ(to[0], empty);
  EXPECT_EQ(from[1], empty);
}

TEST_F(Capturing, ACaptureCanExtendAGraph) {
  cudaGraph_t base = nullptr;
  cudaGraphNode_t empty = nullptr;
  cudaGraphCreate(&base, 0);
  cudaGraphAddEmptyNode(&empty, base, nullptr, 0);
  ASSERT_EQ(
      cudaStreamBeginCaptureToGraph(stream, base, &empty, nullptr, 1, cudaStreamCaptureModeGlobal),
      cudaSuccess);
  give(stream, "a");
  EXPECT_EQ(cudaGraphDestroy(base), cudaErrorInvalidValue);
  EXPECT_EQ(end(), 2u);
  EXPECT_EQ(graph, base);
  std::size_t edges = 0;
  cudaGraphGetEdges(graph, nullptr, nullptr, nullptr, &edges);
  EXPECT_EQ(edges, 1u);
}

TEST_F(Capturing, AGraphOfTheProgramOutlivesACaptureIntoIt) {
  cudaGraphCreate(&graph, 0);
  ASSERT_EQ(cudaStreamBeginCaptureToGraph(stream, graph, nullptr, nullptr, 0,
                                          cudaStreamCaptureModeGlobal),
            cudaSuccess);
  give(stream, "a");
  EXPECT_EQ(cudaStreamEndCapture(stream, nullptr), cudaSuccess);
  std::size_t nodes = 0;
  EXPECT_EQ(cudaGraphGetNodes(graph, nullptr, &nodes), cudaSuccess);
  EXPECT_EQ(nodes, 1u);
}

TEST_F(Capturing, AJoinedStreamMayBeDestroyedBeforeTheEnd) {
  begin();
  give(stream, "a");
  cudaEventRecord(fork, stream);
  cudaStreamWaitEvent(other, fork, 0);
  give(other, "b");
  cudaEventRecord(join, other);
  cudaStreamWaitEvent(stream, join, 0);
  EXPECT_EQ(cudaStreamDestroy(other), cudaSuccess);
  EXPECT_EQ(end(), 2u);
  EXPECT_EQ(findings_of(FindingKind::capture), 0u);
}

TEST_F(Capturing, AnUnjoinedStreamThatIsDestroyedSpoilsTheCapture) {
  begin();
  give(stream, "a");
  cudaEventRecord(fork, stream);
  cudaStreamWaitEvent(other, fork, 0);
  give(other, "b");
  EXPECT_EQ(cudaStreamDestroy(other), cudaSuccess);
  EXPECT_EQ(end(cudaErrorStreamCaptureUnjoined), 0u);
}

TEST_F(Capturing, ADestroyedStreamEndsItsCapture) {
  begin();
  give(stream, "a");
  EXPECT_EQ(cudaStreamDestroy(stream), cudaSuccess);
  EXPECT_EQ(findings_of(FindingKind::capture), 1u);
  EXPECT_EQ(refuse_in_capture("cudaMalloc"), cudaSuccess);
}

}  // namespace
}  // namespace halfgrad::emulator
