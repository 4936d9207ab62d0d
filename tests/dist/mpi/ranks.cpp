// A program for mpirun: test_dist_ranks check | train SECONDS | throw | early | mismatch
//
//   check     compares all collectives with loops over the ranks' elements
//   train     calls collectives until the time is over
//   throw     as train, but rank 1 throws an exception after a second
//   early     as train, but rank 1 ends after a second
//   mismatch  rank 1 calls another collective than the others
//
// HALFGRAD_TEST_TIMEOUT is the time-out in milliseconds. Ends with 0, or prints an error and ends
// with 3; a failed check ends with 1. The error is also written to error_RANK in the folder
// HALFGRAD_TEST_LOG, since what a rank prints may not arrive over a broken network.
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include <halfgrad/dist/init_process_group.h>

#include "../collective_checks.h"

namespace {

using namespace halfgrad;
using Clock = std::chrono::steady_clock;

std::string rank_name = "unknown";

std::chrono::milliseconds timeout() {
  const char* const text = std::getenv("HALFGRAD_TEST_TIMEOUT");
  return std::chrono::milliseconds(text ? std::stoi(text) : 60000);
}

// Steps as of a training: sums of several sizes, which overlap, and a barrier now and then. All
// ranks end after the same step, since they agree on the time.
void train(dist::Communicator& communicator, double seconds, std::string_view fault) {
  const auto start = Clock::now();
  const auto elapsed = [&] { return std::chrono::duration<double>(Clock::now() - start).count(); };
  const Array small = Array::full({10}, 1, kFloat32), large = Array::full({1 << 20}, 1, kBFloat16);
  const Array time = Array::empty({1}, kFloat64);
  for (int step = 0;; ++step) {
    time.data_as<double>()[0] = elapsed();
    communicator.all_reduce(time, dist::ReduceOp::max).wait();
    if (time.item<double>() > seconds) return;
    if (communicator.rank() == 1 && elapsed() > 1 && fault == "throw") {
      const dist::Work pending = communicator.all_reduce(small);
      throw std::domain_error("rank 1 throws");
    }
    if (communicator.rank() == 1 && elapsed() > 1 && fault == "early") return;
    const dist::Work first = communicator.all_reduce(large, dist::ReduceOp::average);
    const dist::Work second = communicator.all_reduce(small, dist::ReduceOp::average);
    second.wait();
    first.wait();
    if (step % 16 == 0) communicator.barrier();
  }
}

void call_another(dist::Communicator& communicator) {
  const Array array = Array::full({10}, 1, kFloat32);
  if (communicator.rank() == 1) {
    communicator.broadcast(array, 0).wait();
  } else {
    communicator.all_reduce(array).wait();
  }
}

void log_error(const std::string& text) {
  std::cerr << "error: " + text + "\n";
  if (const char* const folder = std::getenv("HALFGRAD_TEST_LOG")) {
    std::ofstream(std::string(folder) + "/error_" + rank_name) << text << '\n';
  }
}

int run(std::string_view mode, double seconds) {
  const auto communicator = dist::init_process_group({.timeout = timeout()});
  rank_name = std::to_string(communicator->rank());
  if (mode == "check") {
    dist::check_all(*communicator);
    return testing::UnitTest::GetInstance()->ad_hoc_test_result().Failed() ? 1 : 0;
  }
  std::cout << communicator->name_of(communicator->rank()) + " of " +
                   std::to_string(communicator->size()) + " starts\n"
            << std::flush;
  if (mode == "mismatch") {
    call_another(*communicator);
  } else {
    train(*communicator, seconds, mode);
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  try {
    return run(argc > 1 ? argv[1] : "check", argc > 2 ? std::stod(argv[2]) : 5);
  } catch (const std::exception& error) {
    log_error(error.what());
    return 3;
  }
}
