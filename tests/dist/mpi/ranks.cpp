// A program for mpirun: test_dist_ranks check | training FILE | resume FILE | train SECONDS | throw
// | early | mismatch
//
//   check     compares all collectives with loops over the ranks' elements
//   training  trains and checks the results, which rank 0 prints; FILE becomes a checkpoint
//   resume    goes on from the checkpoint FILE; rank 0 prints the state
//   train     calls collectives until the time is over
//   throw     as train, but rank 1 throws an exception after a second
//   early     as train, but rank 1 ends after a second
//   mismatch  rank 1 calls another collective than the others
//
// HALFGRAD_TEST_TIMEOUT is the time-out in milliseconds. Ends with 0, or prints an error and ends
// with 3; a failed check ends with 1. The error is also written to error_RANK in the folder
// HALFGRAD_TEST_LOG, since what a rank prints may not arrive over a broken network.
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <sstream>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include <halfgrad/dist/init_process_group.h>
#include <halfgrad/io/checkpoint.h>

#include "../collective_checks.h"
#include "../ranks.h"
#include "../training_checks.h"

namespace {

using namespace halfgrad;
using Clock = std::chrono::steady_clock;

std::string rank_name = "unknown";

dist::Factory adamw() {
  return dist::factory_of<optim::AdamW>(optim::AdamWArguments{.lr = 0.1, .amsgrad = true});
}

std::chrono::milliseconds timeout() {
  const char* const text = std::getenv("HALFGRAD_TEST_TIMEOUT");
  return std::chrono::milliseconds(text ? std::stoi(text) : 60000);
}

// Steps as of a training: sums of several sizes, which overlap, and a barrier now and then. All
// ranks end after the same step, since they agree on the time.
void train(dist::Communicator& communicator, double seconds, std::string_view fault) {
  const auto start = Clock::now();
  const auto elapsed = [&] { return std::chrono::duration<double>(Clock::now() - start).count(); };
  const Array small = Array::full({10}, 1, kFloat32);
  const Array large = communicator.empty({1 << 20}, kBFloat16);
  large.fill_(1);
  const Array time = Array::empty({1}, kFloat64);
  for (int step = 0;; ++step) {
    time.data_as<double>()[0] = elapsed();
    communicator.all_reduce(time, dist::ReduceOp::max).wait();
    if (time.item<double>() > seconds) return;
    if (communicator.rank() == 1 && elapsed() > 1 && fault == "throw") {
      // The call of the other ranks, which may complete or not.
      const dist::Work pending = communicator.all_reduce(large, dist::ReduceOp::average);
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

// True if the array is in a file in memory, as /proc/self/maps names it.
bool is_in_shared_memory(const Array& array) {
  std::ifstream maps("/proc/self/maps");
  const auto address = reinterpret_cast<std::uintptr_t>(array.data());
  for (std::string line; std::getline(maps, line);) {
    if (line.find("memfd:halfgrad") == std::string::npos) continue;
    std::istringstream range(line);
    std::uintptr_t begin = 0, end = 0;
    char dash = 0;
    range >> std::hex >> begin >> dash >> end;
    if (begin <= address && address < end) return true;
  }
  return false;
}

// All ranks must be on this machine.
void check_shared_memory(dist::Communicator& communicator) {
  const int ranks = communicator.size();
  EXPECT_EQ(is_in_shared_memory(communicator.empty({5000}, kFloat32)), ranks > 1);
  EXPECT_FALSE(is_in_shared_memory(Array::empty({5000}, kFloat32)));

  // One rank that does not share keeps all from it.
  const auto other = dist::init_process_group(
      {.timeout = timeout(), .shared_memory = communicator.rank() != ranks - 1});
  EXPECT_FALSE(is_in_shared_memory(other->empty({5000}, kFloat32)));
  dist::check_own_memory(*other);
}

void call_another(dist::Communicator& communicator) {
  const Array array = Array::full({10}, 1, kFloat32);
  if (communicator.rank() == 1) {
    communicator.broadcast(array, 0).wait();
  } else {
    communicator.all_reduce(array).wait();
  }
}

// FNV-1a, in hexadecimal digits.
std::string hash_of(std::string_view bytes) {
  std::uint64_t hash = 0xcbf29ce484222325u;
  for (const char c : bytes) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
  std::ostringstream text;
  text << std::hex << hash;
  return text.str();
}

// Threads must compute the same bits as processes.
void run_training(dist::Communicator& communicator, const std::string& file) {
  const std::string bits = dist::check_training(communicator);
  const io::Checkpoint saved = dist::train_from(communicator, {}, adamw(), kFloat16);
  if (communicator.rank() == 0) {
    dist::on_ranks(communicator.size(), [&](dist::Communicator& thread) {
      EXPECT_EQ(dist::check_training(thread), bits) << "threads";
    });
    io::save_checkpoint(file, saved);
    std::cout << "result " + hash_of(bits) + '\n' << std::flush;
  }
  communicator.barrier();
}

void resume(dist::Communicator& communicator, const std::string& file) {
  const io::Checkpoint saved = io::load_checkpoint(file);
  std::string bits;
  for (const auto& [name, bytes] :
       dist::bytes_of(dist::train_from(communicator, saved, adamw(), kFloat16))) {
    bits += name + bytes;
  }
  if (communicator.rank() == 0) std::cout << "result " + hash_of(bits) + '\n' << std::flush;
  communicator.barrier();
}

void log_error(const std::string& text) {
  std::cerr << "error: " + text + "\n";
  if (const char* const folder = std::getenv("HALFGRAD_TEST_LOG")) {
    std::ofstream(std::string(folder) + "/error_" + rank_name) << text << '\n';
  }
}

int status_of_checks() {
  return testing::UnitTest::GetInstance()->ad_hoc_test_result().Failed() ? 1 : 0;
}

int run(std::string_view mode, const std::string& argument) {
  const auto communicator = dist::init_process_group({.timeout = timeout()});
  rank_name = std::to_string(communicator->rank());
  if (mode == "check") {
    dist::check_all(*communicator);
    check_shared_memory(*communicator);
    return status_of_checks();
  }
  if (mode == "training" || mode == "resume") {
    mode == "training" ? run_training(*communicator, argument) : resume(*communicator, argument);
    return status_of_checks();
  }
  std::cout << communicator->name_of(communicator->rank()) + " of " +
                   std::to_string(communicator->size()) + " starts\n"
            << std::flush;
  if (mode == "mismatch") {
    call_another(*communicator);
  } else {
    train(*communicator, std::stod(argument), mode);
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  try {
    return run(argc > 1 ? argv[1] : "check", argc > 2 ? argv[2] : "5");
  } catch (const std::exception& error) {
    log_error(error.what());
    return 3;
  }
}
