// Gpu: h100
// Two stages that a producer warp fills by TMA while the other warps add up the stage before. The
// last box is partly outside of the tensor, where elements are zeros.
#include "../right.h"
#include "../tma.h"

constexpr int kColumns = 32, kRows = 8, kStages = 2, kConsumers = 64;

__global__ void sums_of_columns(const __grid_constant__ CUtensorMap map, float* y, int tiles) {
  __shared__ alignas(128) float stage[kStages][kRows][kColumns];
  __shared__ std::uint64_t full[kStages], empty[kStages];
  if (threadIdx.x == 0) {
    for (int i = 0; i < kStages; ++i) {
      make(&full[i], 1);
      make(&empty[i], kConsumers);
    }
  }
  __syncthreads();
  const int x = blockIdx.x * kColumns;
  if (threadIdx.x >= kConsumers) {
    if (threadIdx.x != kConsumers) return;
    for (int i = 0; i < tiles; ++i) {
      const int s = i % kStages;
      if (i >= kStages) wait(&empty[s], (i / kStages - 1) % 2);
      expect_bytes(&full[s], sizeof stage[s]);
      load(stage[s], map, x, i * kRows, &full[s]);
    }
    return;
  }
  float sum = 0;
  const int column = threadIdx.x % kColumns, half = threadIdx.x / kColumns;
  for (int i = 0; i < tiles; ++i) {
    const int s = i % kStages;
    wait(&full[s], i / kStages % 2);
    for (int row = half; row < kRows; row += 2) sum += stage[s][row][column];
    ptx::mbarrier_arrive(&empty[s]);
  }
  if (x + column < 100) atomicAdd(&y[x + column], sum);
}

int main() {
  const int columns = 100, rows = 61, tiles = (rows + kRows - 1) / kRows;
  Buffer<float> x(columns * rows), y(columns);
  std::vector<float> input(columns * rows), expected(columns);
  for (int i = 0; i < columns * rows; ++i) {
    input[i] = i % 17;
    expected[i % columns] += input[i];
  }
  upload<float>(x, input);
  const CUtensorMap map = map_of(x, columns, rows, kColumns, kRows);
  sums_of_columns<<<4, kConsumers + 32>>>(map, y, tiles);
  settle();
  EXPECT(values<float>(y, columns) == expected);
}
