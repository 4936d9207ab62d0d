// The problems for which an algorithm of cublasLtMatmul() may be used.
#include <mutex>
#include <set>
#include <utility>

#include <halfgrad/emulator/cublaslt/matmul.h>

namespace halfgrad::emulator {
namespace {

struct Checked {
  std::mutex mutex;
  std::set<std::pair<std::uint64_t, std::uint64_t>> pairs;  // chosen for, also good for
};

Checked& checked() {
  static auto* const only = new Checked;
  return *only;
}

}  // namespace

std::uint64_t hash_of(const MatmulProblem& problem) {
  std::uint64_t hash = 14695981039346656037ull;  // FNV-1a over words
  const auto mix = [&](auto value) {
    hash = (hash ^ static_cast<std::uint64_t>(value)) * 1099511628211ull;
  };
  const MatmulDescription& matmul = problem.matmul;
  mix(matmul.compute), mix(matmul.scale), mix(matmul.pointer_mode), mix(matmul.transpose_a);
  mix(matmul.transpose_b), mix(matmul.epilogue), mix(matmul.bias_type), mix(matmul.aux_type);
  mix(matmul.bias_stride), mix(matmul.aux_leading), mix(matmul.aux_stride);
  for (const Layout* layout : {&problem.a, &problem.b, &problem.c, &problem.d}) {
    mix(layout->type), mix(layout->order), mix(layout->batch_count), mix(layout->rows);
    mix(layout->columns), mix(layout->leading), mix(layout->batch_stride);
  }
  return hash;
}

MatmulProblem without_epilogue(MatmulProblem problem) {
  MatmulDescription& matmul = problem.matmul;
  matmul.epilogue = CUBLASLT_EPILOGUE_DEFAULT;
  matmul.bias_type = matmul.aux_type = kTypeOfD;
  matmul.bias_stride = matmul.aux_leading = matmul.aux_stride = 0;
  return problem;
}

void remember_checked(std::uint64_t chosen_for, std::uint64_t problem) {
  const std::lock_guard lock(checked().mutex);
  checked().pairs.emplace(chosen_for, problem);
}

bool was_checked(std::uint64_t chosen_for, std::uint64_t problem) {
  if (chosen_for == problem) return true;
  const std::lock_guard lock(checked().mutex);
  return checked().pairs.contains({chosen_for, problem});
}

}  // namespace halfgrad::emulator
