#include <halfgrad/core/memory/caching_allocator.h>

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

namespace halfgrad::detail {
namespace {

constexpr std::size_t kBytes = 1024;  // a size class

// Stand-ins for streams: only the addresses count.
int first_name, second_name;
void* const kFirst = &first_name;
const Stream kSecond(kCUDA, &second_name);
const Stream kDefault(kCUDA, nullptr);

// A fake device with little memory. The test sets when its work on other streams is done.
class CachingAllocatorTest : public ::testing::Test {
 protected:
  ~CachingAllocatorTest() override {
    for (const auto& [block, bytes] : requested_) std::free(block);
  }

  MemorySource source() {
    return {.request = [this](std::size_t bytes) -> void* {
              if (held() + bytes > capacity_) return nullptr;
              void* const block = std::malloc(1);  // a unique address
              requested_[block] = bytes;
              return block;
            },
            .release =
                [this](void* block) {
                  ASSERT_EQ(requested_.erase(block), 1U) << "released twice";
                  std::free(block);
                },
            .forget_contents = [this](void*, std::size_t bytes) { forgotten_.push_back(bytes); },
            .record_event = [this](const Stream&) -> void* {
              return can_record_ ? &++events_ : nullptr;
            },
            .event_done = [this](void*) { return done_ && events_-- > 0; },
            .wait_event = [this](void*) { done_ = true; }};
  }

  std::size_t held() const {
    std::size_t sum = 0;
    for (const auto& [block, bytes] : requested_) sum += bytes;
    return sum;
  }
  allocator::Block take(Queue queue = {}) { return allocator_.allocate(kBytes, queue); }
  void give(const allocator::Block& block, std::uint64_t pool = 0) {
    allocator_.deallocate(block, pool);
  }

  std::map<void*, std::size_t> requested_;
  std::size_t capacity_ = 8 * kBytes;
  std::vector<std::size_t> forgotten_;
  int events_ = 0;  // recorded and not yet found done
  bool can_record_ = true;
  bool done_ = false;
  CachingAllocator allocator_{"fake", source()};
};

TEST_F(CachingAllocatorTest, ABlockIsReusedOnlyOnItsOwnStream) {
  const auto block = take({kFirst});
  give(block);
  EXPECT_NE(take({&second_name}).data, block.data);
  EXPECT_NE(take().data, block.data);
  EXPECT_EQ(take({kFirst}).data, block.data);
}

TEST_F(CachingAllocatorTest, ABlockThatIsUsedAgainHasNoContents) {
  give(take());
  EXPECT_TRUE(forgotten_.empty()) << "fresh memory has none";
  give(allocator_.allocate(kBytes - 100, {}));
  EXPECT_EQ(forgotten_, std::vector<std::size_t>{kBytes}) << "the whole block, with its tail";
  const std::uint64_t pool = allocator_.open_pool(kSecond);
  give(take({kFirst, pool}));
  give(take({kFirst, pool}));
  EXPECT_EQ(forgotten_.size(), 1U) << "a graph's replays use the contents of its pool";
  allocator_.close_pool(pool);
}

TEST_F(CachingAllocatorTest, WaitsForOtherStreamsThatUseABlock) {
  const auto block = take();
  allocator_.record_stream(block, kSecond);
  allocator_.record_stream(block, kSecond);
  give(block);
  EXPECT_EQ(events_, 1);
  EXPECT_EQ(allocator_.stats().cached, std::int64_t{kBytes});
  EXPECT_NE(take().data, block.data);
  done_ = true;
  EXPECT_EQ(take().data, block.data);
  EXPECT_EQ(events_, 0);
  EXPECT_EQ(allocator_.stats().cached, 0);

  give(block);
  EXPECT_EQ(take().data, block.data) << "recorded streams are forgotten when a block is reused";
}

TEST_F(CachingAllocatorTest, DelaysEventsThatCannotBeRecordedYet) {
  can_record_ = false;
  done_ = true;
  const auto block = take();
  allocator_.record_stream(block, kSecond);
  give(block);
  EXPECT_NE(take().data, block.data);
  can_record_ = true;
  EXPECT_EQ(take().data, block.data);
}

TEST_F(CachingAllocatorTest, OutOfMemoryFreesTheCacheAndTriesAgain) {
  std::vector<allocator::Block> blocks;
  for (int i = 0; i < 8; ++i) blocks.push_back(take({kFirst}));
  allocator_.record_stream(blocks[7], kSecond);
  for (int i = 1; i < 8; ++i) give(blocks[static_cast<std::size_t>(i)]);
  const auto large = allocator_.allocate(7 * kBytes, {});
  EXPECT_EQ(held(), 8 * kBytes);
  EXPECT_TRUE(done_) << "it waits for what other streams still use";
  EXPECT_EQ(allocator_.stats().cached, 0);
  EXPECT_EQ(allocator_.stats().system_requests, 9);
  give(large);
}

TEST_F(CachingAllocatorTest, OutOfMemoryListsTheMemoryInUse) {
  capacity_ = 8 * kBytes;
  const auto small = allocator_.allocate(100, {});
  const auto block = take();
  const auto other = take();
  try {
    allocator_.allocate(64 * kBytes, {});
    FAIL() << "expected a refusal";
  } catch (const OutOfMemoryError& error) {
    const std::string expected =
        "allocate: expected 64.00 KiB on fake, got a refusal from the system; 2.12 KiB are in "
        "use, 0 bytes cached, the peak was 2.12 KiB, there is no limit\n"
        "   bytes a block            live      bytes live          cached    bytes cached\n"
        "             128               1             128               0               0\n"
        "            1024               2            2048               0               0";
    EXPECT_EQ(error.what(), expected);
  }
  EXPECT_EQ(allocator_.stats().current, 2176);
  for (const auto& held : {small, block, other}) give(held);
}

TEST_F(CachingAllocatorTest, TheTableCountsCachedBlocks) {
  const auto block = take();
  give(block);
  allocator_.fail_allocation(1);
  try {
    take();
    FAIL() << "expected a refusal";
  } catch (const std::runtime_error& error) {
    const std::string row =
        "\n            1024               0               0               1            1024";
    EXPECT_TRUE(std::string(error.what()).ends_with(row)) << error.what();
  }
}

TEST_F(CachingAllocatorTest, APoolKeepsItsBlocksUntilItCloses) {
  const std::uint64_t pool = allocator_.open_pool(Stream(kCUDA, kFirst));
  const auto inside = take({&second_name, pool});
  const auto survivor = take({&second_name, pool});
  give(inside, pool);
  EXPECT_NE(take({&second_name}).data, inside.data);
  EXPECT_NE(take({kFirst}).data, inside.data);
  allocator_.empty_cache();
  EXPECT_EQ(take({&second_name, pool}).data, inside.data);
  give(inside);

  allocator_.close_pool(pool);
  EXPECT_EQ(take({kFirst}).data, inside.data) << "it goes to the home stream";
  give(survivor);
  EXPECT_EQ(take({kFirst}).data, survivor.data)
      << "a block that outlives the pool goes to the home stream";
}

TEST_F(CachingAllocatorTest, ABlockFreedIntoAPoolStaysThere) {
  const std::uint64_t pool = allocator_.open_pool(kDefault);
  const auto block = take();
  give(block, pool);
  EXPECT_NE(take().data, block.data);
  allocator_.close_pool(pool);
  EXPECT_EQ(take().data, block.data);
}

TEST_F(CachingAllocatorTest, ABlockOfAnOpenPoolStaysThere) {
  const std::uint64_t pool = allocator_.open_pool(kDefault), later = allocator_.open_pool(kDefault);
  const auto result = take({kFirst, pool});
  give(result, later);
  EXPECT_NE(take({kFirst, later}).data, result.data);
  allocator_.close_pool(later);
  EXPECT_NE(take().data, result.data);
  EXPECT_EQ(take({kFirst, pool}).data, result.data);

  allocator_.close_pool(pool);
  const std::uint64_t last = allocator_.open_pool(kDefault);
  give(result, last);
  EXPECT_NE(take().data, result.data) << "after its own pool is closed it is an ordinary block";
  allocator_.close_pool(last);
  EXPECT_EQ(take().data, result.data);
}

TEST_F(CachingAllocatorTest, TheHomeStreamWaitsForStreamsOfBlocksFreedIntoThePool) {
  for (const bool closes_first : {false, true}) {
    done_ = false;
    const std::uint64_t pool = allocator_.open_pool(kDefault);
    const auto block = take({kFirst});
    give(block, pool);
    EXPECT_EQ(events_, 1);
    if (closes_first) {
      allocator_.close_pool(pool);
      EXPECT_NE(take().data, block.data);
    }
    done_ = true;
    EXPECT_NE(take({kFirst}).data, block.data);
    EXPECT_EQ(events_, 0);
    if (!closes_first) {
      EXPECT_NE(take().data, block.data) << "the pool has it";
      allocator_.close_pool(pool);
    }
    EXPECT_EQ(take().data, block.data);
  }
}

TEST_F(CachingAllocatorTest, APoolNeverMakesTheDeviceWait) {
  const std::uint64_t pool = allocator_.open_pool(kDefault);
  std::vector<allocator::Block> blocks;
  for (int i = 0; i < 8; ++i) blocks.push_back(take({kFirst}));
  for (const auto& block : blocks) give(block);
  EXPECT_EQ(held(), 8 * kBytes);
  EXPECT_THROW(take({kFirst, pool}), std::runtime_error);
  EXPECT_EQ(held(), 8 * kBytes) << "nothing was released";
}

TEST_F(CachingAllocatorTest, EmptyCacheReleasesFreeBlocks) {
  const auto block = take();
  give(take());
  EXPECT_EQ(held(), 2 * kBytes);
  allocator_.empty_cache();
  EXPECT_EQ(held(), kBytes);
  EXPECT_EQ(allocator_.stats().cached, 0);
  give(block);
}

}  // namespace
}  // namespace halfgrad::detail
