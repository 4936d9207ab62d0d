#include <unistd.h>

#include <cstddef>
#include <cstring>

#include <gtest/gtest.h>

#include <halfgrad/core/allocator.h>
#include <halfgrad/dist/communicator.h>
#include <halfgrad/dist/host/shared_memory.h>

namespace halfgrad::dist {
namespace {

class SharedMemoryTest : public testing::Test {
 protected:
  void SetUp() override {
    if (memory_->place_of(memory_->empty({4096}, kFloat32).data()).file < 0) {
      GTEST_SKIP() << "no shared memory: this system has no memfd_create";
    }
  }

  const std::shared_ptr<SharedMemory> memory_ = std::make_shared<SharedMemory>();
  PeerMemory peer_{getpid()};  // this process, as another one sees it
};

TEST_F(SharedMemoryTest, IsReadWhereAnotherProcessMapsIt) {
  const Array array = memory_->empty({3, 1000}, kFloat32);
  EXPECT_EQ(array.sizes(), (Shape{3, 1000}));
  EXPECT_TRUE(array.is_contiguous());
  const std::byte* const part = array.slice(0, 1, 3).data();
  const std::byte* const mapped = peer_.address_of(memory_->place_of(part));
  EXPECT_NE(mapped, part);
  for (const double value : {1.0, 2.0}) {  // later writes are seen, too
    array.fill_(value);
    EXPECT_EQ(std::memcmp(mapped, part, 2000 * sizeof(float)), 0);
  }
}

TEST_F(SharedMemoryTest, IsUsedAgain) {
  SharedPlace first;
  {
    const Array array = memory_->empty({5000}, kFloat64);
    first = memory_->place_of(array.data());
    const Array beside = memory_->empty({5000}, kFloat64);
    EXPECT_NE(memory_->place_of(beside.data()).inode, first.inode);
  }
  const Array again = memory_->empty({10000}, kFloat32);
  EXPECT_EQ(memory_->place_of(again.data()).inode, first.inode);
  const Array larger = memory_->empty({10001}, kFloat32);
  EXPECT_NE(memory_->place_of(larger.data()).inode, first.inode);
  const SharedPlace smaller = memory_->place_of(memory_->empty({9000}, kFloat32).data());
  EXPECT_EQ(smaller.bytes, 40000);  // the file of `beside`
}

TEST_F(SharedMemoryTest, OutlivesItsOwner) {
  auto memory = std::make_shared<SharedMemory>();
  const Array array = memory->empty({5000}, kFloat64);
  const std::byte* const mapped = peer_.address_of(memory->place_of(array.data()));
  memory.reset();
  array.fill_(3);
  EXPECT_EQ(std::memcmp(mapped, array.data(), 5000 * sizeof(double)), 0);
}

TEST_F(SharedMemoryTest, HasNoPlaceForOtherMemory) {
  EXPECT_LT(memory_->place_of(Array::empty({5000}, kFloat32).data()).file, 0);
  EXPECT_LT(memory_->place_of(nullptr).file, 0);
  for (const Shape& small : {Shape{0}, Shape{1}, Shape{1023}}) {
    const Array array = memory_->empty(small, kFloat32);
    EXPECT_EQ(array.sizes(), small);
    EXPECT_LT(memory_->place_of(array.data()).file, 0);
  }
}

// Memory that the machine does not have: the array is then made elsewhere, or not at all.
TEST_F(SharedMemoryTest, ThatCannotBeHadIsAskedOfTheAllocator) {
  allocator::set_limit(Device(), std::size_t{1} << 40);
  EXPECT_THROW(memory_->empty({std::int64_t{1} << 50}, kFloat32), OutOfMemoryError);
  allocator::set_limit(Device(), 0);
}

TEST_F(SharedMemoryTest, IsOnlyMappedIfItIsTheFileThatWasNamed) {
  const Array array = memory_->empty({5000}, kFloat64);
  const SharedPlace place = memory_->place_of(array.data());
  SharedPlace closed = place, other = place, longer = place;
  closed.file = 1 << 20;
  closed.inode = other.inode = longer.inode = place.inode + 1;
  longer.bytes += 1;
  for (const SharedPlace& wrong : {closed, other, longer}) {
    EXPECT_THROW(peer_.address_of(wrong), CommunicationError);
  }
  EXPECT_NO_THROW(peer_.address_of(place));
}

}  // namespace
}  // namespace halfgrad::dist
