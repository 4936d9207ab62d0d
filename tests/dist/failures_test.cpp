#include <chrono>
#include <stdexcept>
#include <string>
#include <thread>

#include <gtest/gtest.h>

#include "ranks.h"

namespace halfgrad::dist {
namespace {

using namespace std::chrono_literals;

// Calls f and returns the text of the CommunicationError that it must throw.
template <class F>
std::string error_of(const F& f) {
  try {
    f();
  } catch (const CommunicationError& error) {
    return error.what();
  }
  return "no error";
}

void expect_text(const std::string& text, const std::string& part) {
  EXPECT_NE(text.find(part), std::string::npos) << "expected ..." << part << "..., got " << text;
}

TEST(CommunicationFailures, AMismatchIsNamedOnEveryRank) {
  on_ranks(3, [](Communicator& communicator) {
    const Array array = Array::full({10}, 1, kFloat32);
    const std::string error = error_of([&] {
      if (communicator.rank() == 1) {
        communicator.broadcast(array, 2).wait();
      } else {
        communicator.all_reduce(array).wait();
      }
    });
    const bool is_other = communicator.rank() == 1;
    expect_text(error, is_other ? "broadcast from rank 2 of 10 float32, collective 1, on rank 1: "
                                : "all_reduce (sum) of 10 float32, collective 1, on rank ");
    expect_text(error, is_other
                           ? "got all_reduce (sum) of 10 float32, collective 1 on rank 0"
                           : "got broadcast from rank 2 of 10 float32, collective 1 on rank 1");
    // Later calls throw the same error.
    EXPECT_EQ(error_of([&] { communicator.barrier(); }), error);
    EXPECT_EQ(error_of([&] { static_cast<void>(communicator.all_reduce(array)); }), error);
  });
}

TEST(CommunicationFailures, SizesOpsAndDtypesAreCompared) {
  const auto expect_mismatch = [](const auto& call) {
    on_ranks(2, [&](Communicator& communicator) {
      expect_text(error_of([&] { call(communicator, communicator.rank() == 0); }),
                  "expected the same call on every rank");
    });
  };
  expect_mismatch([](Communicator& c, bool first) {
    c.all_reduce(Array::full({first ? 10 : 11}, 1, kFloat32)).wait();
  });
  expect_mismatch([](Communicator& c, bool first) {
    c.all_reduce(Array::full({10}, 1, first ? kFloat32 : kInt32)).wait();
  });
  expect_mismatch([](Communicator& c, bool first) {
    c.all_reduce(Array::full({10}, 1, kFloat32), first ? ReduceOp::sum : ReduceOp::max).wait();
  });
  expect_mismatch([](Communicator& c, bool first) {
    c.broadcast(Array::full({10}, 1, kFloat32), first ? 0 : 1).wait();
  });
}

TEST(CommunicationFailures, ATimeOutNamesTheSilentRank) {
  on_ranks(make_local_communicators(3, 200ms), [](Communicator& communicator) {
    if (communicator.rank() == 1) {
      std::this_thread::sleep_for(600ms);
      return;
    }
    const std::string error = error_of([&] { communicator.barrier(); });
    expect_text(error, "expected every rank to take part within 0.2 s, got no answer from rank 1");
  });
}

TEST(CommunicationFailures, EveryCollectiveUnderWayFails) {
  on_ranks(make_local_communicators(2, 100ms), [](Communicator& communicator) {
    if (communicator.rank() == 1) {
      std::this_thread::sleep_for(300ms);
      return;
    }
    const Array array = Array::full({10}, 1, kFloat32);
    const Work first = communicator.all_reduce(array), second = communicator.all_reduce(array);
    const std::string error = error_of([&] { first.wait(); });
    EXPECT_EQ(error_of([&] { second.wait(); }), error);
    EXPECT_EQ(error_of([&] { static_cast<void>(first.is_completed()); }), error);
  });
}

TEST(CommunicationFailures, AnExceptionOfARankReachesTheOthersSoon) {
  const auto start = std::chrono::steady_clock::now();
  EXPECT_THROW(on_ranks(make_local_communicators(3, 60s),
                        [](Communicator& communicator) {
                          const Array array = Array::full({10}, 1, kFloat32);
                          if (communicator.rank() == 0) {
                            const Work pending = communicator.all_reduce(array);
                            std::this_thread::sleep_for(50ms);
                            throw std::domain_error("of rank 0");
                          }
                          if (communicator.rank() == 1) std::this_thread::sleep_for(100ms);
                          const std::string error =
                              error_of([&] { communicator.all_reduce(array).wait(); });
                          expect_text(error, "rank 0 has left: ");
                          expect_text(error, "program threw an exception");
                        }),
               std::domain_error);
  EXPECT_LT(std::chrono::steady_clock::now() - start, 30s);
}

TEST(CommunicationFailures, ARankThatEndsEarlyIsNamed) {
  on_ranks(make_local_communicators(2, 60s), [](Communicator& communicator) {
    communicator.barrier();
    if (communicator.rank() == 0) return;
    expect_text(error_of([&] { communicator.barrier(); }),
                "rank 0 has left: its program has destroyed the communicator");
  });
}

TEST(CommunicationFailures, DestructionCompletesWhatWasCalled) {
  const Array arrays[] = {Array::full({5000}, 1, kFloat32), Array::full({5000}, 2, kFloat32)};
  on_ranks(2, [&](Communicator& communicator) {
    const Work pending = communicator.all_reduce(arrays[communicator.rank()]);
  });
  EXPECT_EQ(arrays[0].select(0, 4999).item<float>(), 3);
  EXPECT_EQ(arrays[1].select(0, 0).item<float>(), 3);
}

}  // namespace
}  // namespace halfgrad::dist
