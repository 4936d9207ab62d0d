#include <halfgrad/dist/launcher.h>

#include <charconv>
#include <cstdlib>
#include <string_view>

#include <halfgrad/core/fail.h>

namespace halfgrad::dist {
namespace {

// Open MPI; MPICH, Intel MPI; MVAPICH; Slurm's srun.
struct Variables {
  const char *size, *local_rank;
};
constexpr Variables kVariables[] = {{"OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_RANK"},
                                    {"PMI_SIZE", "MPI_LOCALRANKID"},
                                    {"MV2_COMM_WORLD_SIZE", "MV2_COMM_WORLD_LOCAL_RANK"},
                                    {"SLURM_STEP_NUM_TASKS", "SLURM_LOCALID"}};

int parsed(const char* variable, std::string_view text, int least) {
  int number = 0;
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (status != std::errc() || end != text.data() + text.size() || number < least) {
    halfgrad::detail::fail<std::runtime_error>(
        "init_process_group", "expected a {} integer in the environment's {}, got '{}'",
        least == 1 ? "positive" : "non-negative", variable, text);
  }
  return number;
}

}  // namespace

Launch find_launch() {
  for (const Variables& variables : kVariables) {
    const char* const size = std::getenv(variables.size);
    if (size == nullptr) continue;
    const char* const local_rank = std::getenv(variables.local_rank);
    return {parsed(variables.size, size, 1), variables.size,
            local_rank == nullptr ? 0 : parsed(variables.local_rank, local_rank, 0)};
  }
  const char* const torchrun = std::getenv("WORLD_SIZE");
  if (torchrun != nullptr && std::string_view(torchrun) != "1") {
    halfgrad::detail::fail<std::runtime_error>(
        "init_process_group",
        "expected a program started by mpirun or srun, got WORLD_SIZE={} as of torchrun; start it "
        "by mpirun -n {}, or unset WORLD_SIZE to run it alone",
        torchrun, torchrun);
  }
  return {};
}

Device gpu_of(const Launch& launch, int gpus) {
  if (gpus < 1) halfgrad::detail::fail("gpu_of", "expected at least one GPU, got {}", gpus);
  return {kCUDA, launch.local_rank % gpus};
}

}  // namespace halfgrad::dist
