#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include <nccl.h>

#include <halfgrad/emulator/nccl/rank_call.h>
#include <halfgrad/emulator/runtime/streams/meeting.h>

namespace halfgrad::emulator {

/// One rank's call in an exchange.
struct Member {
  int rank = 0;
  RankCall call;
  bool given = false;  ///< the rank has made its call
  bool begun = false;  ///< and all work before it in its stream is complete
  OperationId operation = 0;
  Position position;
  std::uint64_t thread = 0;     ///< number of the host thread
  std::uint64_t group = 0;      ///< number of the call's group; 0: a graph was launched
  std::vector<std::byte> sent;  ///< a copy of the input; only a running part looks at it
  bool is_read = false;
};

/// One collective of all ranks, or one transfer between two.
struct Exchange {
  std::vector<Member> members;
  std::uint64_t number = 0;         ///< counts the collectives of a communicator from 1
  std::atomic<bool> broken{false};  ///< it ends without an effect

  bool is_complete() const;
  const Member* missing() const;
};

/// How a rank has left its communicator.
enum class Left : std::uint8_t { no, destroyed, aborted };

/// The ranks that one ncclUniqueId unites.
struct Clique {
  explicit Clique(int size) : ranks(static_cast<std::size_t>(size)) {}

  struct Rank {
    bool joined = false;
    int device = 0;
    Left left = Left::no;
    ncclResult_t async_error = ncclSuccess;
    std::uint64_t collectives = 0;
    std::uint64_t unfinished = 0;  ///< parts that have not run
  };
  std::vector<Rank> ranks;
  std::map<std::uint64_t, std::shared_ptr<Exchange>>
      collectives;  ///< exchanges that lack a rank's call
  struct Transfers {
    std::uint64_t sent = 0, received = 0;
    std::map<std::uint64_t, std::shared_ptr<Exchange>> open;
  };
  std::map<std::pair<int, int>, Transfers> transfers;

  int size() const { return static_cast<int>(ranks.size()); }
  Rank& rank(int index) { return ranks[static_cast<std::size_t>(index)]; }
  /// The rank makes no more calls: exchanges that wait for it end, with a finding if it was
  /// destroyed.
  void leave(int rank, Left how);
  void break_off(Exchange& exchange, ncclResult_t error);
};

/// Guards all cliques. The scheduler's mutex may be held when it is taken, never the reverse.
std::mutex& nccl_mutex();

/// A rank's calls of one group, which a GPU runs as one kernel.
class Part final : public Meeting {
 public:
  Part(std::shared_ptr<Clique> clique, int rank, std::vector<RankCall> calls, std::uint64_t group,
       std::uint64_t thread);
  ~Part() override;

  void given(OperationId operation, Position position) override;
  bool begin() override;
  void add_partners(std::vector<Position>& places) const override;
  void give_up() override;
  void run(OperationId operation) override;

 private:
  struct Place {
    std::shared_ptr<Exchange> exchange;
    std::size_t member;
  };
  Place join(const RankCall& call);
  Place join_collective();
  Place join_transfer(const RankCall& call);
  void check_partners(const Place& place);

  std::shared_ptr<Clique> clique_;
  int rank_;
  std::vector<RankCall> calls_;
  std::uint64_t group_;
  std::uint64_t thread_;
  std::vector<Place> places_;
  bool was_given_ = false;
};

}  // namespace halfgrad::emulator
