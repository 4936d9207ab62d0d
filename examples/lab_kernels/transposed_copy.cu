/// Transposes a matrix on the GPU: out[c][r] = in[r][c]. Run it under halfgrad-emulate, which
/// counts what the kernel moves:
///
///     halfgrad-emulate --json report.json build/cpu/bin/transposed_copy 64 96
#include <cuda_runtime.h>

#include "program.h"

namespace {

constexpr int kTile = 32, kRowsAtOnce = 8;

/// Transposes a tile in shared memory, so that a warp reads a row of `in` and writes a row of
/// `out`. in [rows, columns], out [columns, rows].
__global__ void transpose(const float* in, float* out, int rows, int columns) {
  // A column more, so that the elements of a column are in 32 different banks.
  __shared__ float tile[kTile][kTile + 1];
  const int first_row = blockIdx.y * kTile, first_column = blockIdx.x * kTile;
  const int lane = threadIdx.x;
  for (int i = threadIdx.y; i < kTile; i += kRowsAtOnce) {
    const int row = first_row + i, column = first_column + lane;
    if (row < rows && column < columns) tile[i][lane] = in[row * columns + column];
  }
  __syncthreads();
  for (int i = threadIdx.y; i < kTile; i += kRowsAtOnce) {
    const int row = first_row + lane, column = first_column + i;
    if (row < rows && column < columns) out[column * rows + row] = tile[lane][i];
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return program::usage("transposed_copy ROWS COLUMNS");
  const int rows = program::integer("ROWS", argv[1], 1, 1 << 13);
  const int columns = program::integer("COLUMNS", argv[2], 1, 1 << 13);
  std::vector<float> in(rows * columns), out(in.size(), -1);
  for (int i = 0; i < rows * columns; ++i) in[i] = static_cast<float>(i);
  float *device_in = program::on_device(in), *device_out = program::on_device(out);
  const dim3 blocks((columns + kTile - 1) / kTile, (rows + kTile - 1) / kTile);
  transpose<<<blocks, dim3(kTile, kRowsAtOnce)>>>(device_in, device_out, rows, columns);
  out = program::from_device(device_out, out.size());
  program::check(cudaFree(device_in), "cudaFree");
  for (int row = 0; row < rows; ++row) {
    for (int column = 0; column < columns; ++column) {
      const float expected = in[row * columns + column], got = out[column * rows + row];
      if (got != expected) return program::wrong("out", column * rows + row, expected, got);
    }
  }
  return program::right();
}
