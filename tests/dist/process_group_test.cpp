#include <cstdlib>
#include <optional>
#include <string>
#include <utility>

#include <gtest/gtest.h>

#include <halfgrad/dist/init_process_group.h>
#include <halfgrad/dist/launcher.h>

namespace halfgrad::dist {
namespace {

// Sets a variable of the environment until the end of the scope.
class Variable {
 public:
  Variable(const char* name, const char* value) : name_(name) {
    if (const char* const old = std::getenv(name)) old_ = old;
    value ? setenv(name, value, 1) : unsetenv(name);
  }
  ~Variable() { old_ ? setenv(name_, old_->c_str(), 1) : unsetenv(name_); }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;

 private:
  const char* name_;
  std::optional<std::string> old_;
};

// No launcher has started the program.
struct Alone {
  Variable open_mpi{"OMPI_COMM_WORLD_SIZE", nullptr}, mpich{"PMI_SIZE", nullptr};
  Variable mvapich{"MV2_COMM_WORLD_SIZE", nullptr}, slurm{"SLURM_STEP_NUM_TASKS", nullptr};
  Variable torchrun{"WORLD_SIZE", nullptr};
};

template <class F>
std::string text_thrown_by(const F& f) {
  try {
    f();
  } catch (const std::exception& error) {
    return error.what();
  }
  return "nothing";
}

TEST(ProcessGroup, AProgramStartedAloneIsOneRank) {
  const Alone alone;
  for (const char* const backend : {"", "mpi"}) {
    const auto communicator = init_process_group({.backend = backend});
    EXPECT_EQ(communicator->rank(), 0);
    EXPECT_EQ(communicator->size(), 1);
    EXPECT_EQ(communicator->name_of(0), "rank 0");
  }
}

TEST(ProcessGroup, AProgramStartedAsOneRankNeedsNoMpi) {
  const Alone alone;
  const Variable size("OMPI_COMM_WORLD_SIZE", "1");
  EXPECT_EQ(init_process_group()->size(), 1);
}

TEST(ProcessGroup, RefusesBadOptions) {
  EXPECT_EQ(text_thrown_by([] { static_cast<void>(init_process_group({.backend = "gloo"})); }),
            "init_process_group: expected backend \"mpi\", \"nccl\" or \"\", got \"gloo\"");
  EXPECT_THROW(static_cast<void>(init_process_group({.timeout = std::chrono::milliseconds(0)})),
               std::invalid_argument);
}

TEST(Launcher, ReadsTheVariablesOfEachLauncher) {
  const Alone alone;
  EXPECT_EQ(find_launch().size, 1);
  EXPECT_EQ(find_launch().variable, "");
  for (const char* const name :
       {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "MV2_COMM_WORLD_SIZE", "SLURM_STEP_NUM_TASKS"}) {
    const Variable size(name, "3");
    EXPECT_EQ(find_launch().size, 3);
    EXPECT_EQ(find_launch().variable, name);
    EXPECT_EQ(find_launch().local_rank, 0);
  }
}

TEST(Launcher, ReadsTheRankOnTheNode) {
  const Alone alone;
  const std::pair<const char*, const char*> variables[] = {
      {"OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_RANK"},
      {"PMI_SIZE", "MPI_LOCALRANKID"},
      {"MV2_COMM_WORLD_SIZE", "MV2_COMM_WORLD_LOCAL_RANK"},
      {"SLURM_STEP_NUM_TASKS", "SLURM_LOCALID"}};
  for (const auto& [size, local_rank] : variables) {
    const Variable ranks(size, "4"), own(local_rank, "2");
    EXPECT_EQ(find_launch().local_rank, 2);
  }
  const Variable ranks("PMI_SIZE", "4"), own("MPI_LOCALRANKID", "-1");
  EXPECT_EQ(text_thrown_by([] { find_launch(); }),
            "init_process_group: expected a non-negative integer in the environment's "
            "MPI_LOCALRANKID, got '-1'");
}

TEST(Launcher, RefusesWhatItCannotRead) {
  const Alone alone;
  for (const char* const text : {"", "0", "-1", "2x", "two"}) {
    const Variable size("PMI_SIZE", text);
    EXPECT_EQ(text_thrown_by([] { find_launch(); }),
              "init_process_group: expected a positive integer in the environment's PMI_SIZE, got "
              "'" +
                  std::string(text) + "'");
  }
}

// Each process would otherwise train alone.
TEST(Launcher, RefusesTorchrun) {
  const Alone alone;
  const Variable size("WORLD_SIZE", "4");
  EXPECT_EQ(text_thrown_by([] { find_launch(); }),
            "init_process_group: expected a program started by mpirun or srun, got WORLD_SIZE=4 as "
            "of torchrun; start it by mpirun -n 4, or unset WORLD_SIZE to run it alone");
  const Variable one("WORLD_SIZE", "1");
  EXPECT_EQ(find_launch().size, 1);
}

TEST(ProcessGroup, RanksOfANodeHaveAGpuEachUntilThereIsNoneLeft) {
  const Alone alone;
  const Variable size("OMPI_COMM_WORLD_SIZE", "8");
  for (int rank = 0; rank < 5; ++rank) {
    const Variable local_rank("OMPI_COMM_WORLD_LOCAL_RANK", std::to_string(rank).c_str());
    EXPECT_EQ(gpu_of(find_launch(), 4), Device(kCUDA, rank % 4));
  }
  EXPECT_EQ(gpu_of(Launch(), 1), Device(kCUDA, 0));
  EXPECT_THROW(gpu_of(Launch(), 0), std::invalid_argument);
}

}  // namespace
}  // namespace halfgrad::dist
