#include <halfgrad/dist/launcher.h>

#include <charconv>
#include <cstdlib>
#include <string_view>

#include <halfgrad/core/fail.h>

namespace halfgrad::dist {
namespace {

// Open MPI; MPICH, Intel MPI; MVAPICH; Slurm's srun.
constexpr const char* kSizes[] = {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "MV2_COMM_WORLD_SIZE",
                                  "SLURM_STEP_NUM_TASKS"};

int parsed_size(const char* variable, std::string_view text) {
  int size = 0;
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), size);
  if (status != std::errc() || end != text.data() + text.size() || size < 1) {
    halfgrad::detail::fail<std::runtime_error>(
        "init_process_group", "expected a positive integer in the environment's {}, got '{}'",
        variable, text);
  }
  return size;
}

}  // namespace

Launch find_launch() {
  for (const char* const variable : kSizes) {
    if (const char* const text = std::getenv(variable)) {
      return {parsed_size(variable, text), variable};
    }
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

}  // namespace halfgrad::dist
