#include <halfgrad/emulator/cublaslt/device_matrix.h>

#include <utility>

#include <halfgrad/emulator/runtime/process.h>

namespace halfgrad::emulator {
namespace {

/// Layout of the columns of a matrix if each is contiguous, else of its rows, which may be strided.
struct Lines {
  std::int64_t count, length, distance, step;
  bool are_columns;
};

Lines lines_of(const DeviceMatrix& matrix) {
  if (matrix.row_stride == 1) {
    return {matrix.columns, matrix.rows, matrix.column_stride, 1, true};
  }
  return {matrix.rows, matrix.columns, matrix.row_stride, matrix.column_stride, false};
}

/// Checks each row or column on its own, since the gaps between them may belong to another
/// allocation, and calls f(index, bytes of its first element).
template <class F>
void each_line(const LibraryCall& call, const DeviceMatrix& matrix, AccessKind kind, F f) {
  if (matrix.rows <= 0 || matrix.columns <= 0) return;
  const Lines lines = lines_of(matrix);
  const auto bytes = static_cast<std::int64_t>(bytes_of_element(matrix.type));
  const auto* begin = static_cast<const std::byte*>(matrix.data);
  const bool dense = lines.step == 1 && lines.distance == lines.length;
  std::byte* all = nullptr;
  if (dense) {
    all = call.view(begin, static_cast<std::size_t>(lines.count * lines.length * bytes), kind);
  }
  for (std::int64_t line = 0; line < lines.count; ++line) {
    const std::int64_t offset = line * lines.distance * bytes;
    if (dense) {
      f(line, all + offset);
    } else if (lines.step == 1) {
      f(line, call.view(begin + offset, static_cast<std::size_t>(lines.length * bytes), kind));
    } else {
      std::byte* first = nullptr;
      for (std::int64_t i = 0; i < lines.length; ++i) {
        std::byte* one = call.view(begin + offset + i * lines.step * bytes,
                                   static_cast<std::size_t>(bytes), kind);
        if (i == 0) first = one;
      }
      f(line, first);
    }
  }
}

}  // namespace

std::byte* LibraryCall::view(const void* pointer, std::size_t bytes, AccessKind kind) const {
  std::byte* host = host_view(pointer, bytes, kind, operation, function);
  if (host == nullptr) throw StrayAccess{};
  return host;
}

cublasStatus_t enqueue_call(cudaStream_t stream, const char* function, std::string detail,
                            std::optional<WorkCost> cost,
                            std::function<void(const LibraryCall&)> run) {
  Work work;
  work.kind = WorkKind::library;
  work.name = function;
  work.detail = std::move(detail);
  work.cost = cost;
  work.device = current_device();
  work.run = [function, run = std::move(run)](OperationId operation) {
    try {
      run(LibraryCall{operation, function});
    } catch (const StrayAccess&) {
      set_error(cudaErrorIllegalAddress);
    }
  };
  return enqueue(stream, std::move(work)) == cudaSuccess ? CUBLAS_STATUS_SUCCESS
                                                         : CUBLAS_STATUS_EXECUTION_FAILED;
}

DeviceMatrix DeviceMatrix::moved(std::int64_t elements) const {
  DeviceMatrix result = *this;
  result.data = static_cast<const std::byte*>(data) +
                elements * static_cast<std::int64_t>(bytes_of_element(type));
  return result;
}

DeviceMatrix column_major(const void* data, cudaDataType type, std::int64_t rows,
                          std::int64_t columns, std::int64_t leading) {
  return {data, type, rows, columns, 1, leading};
}

DeviceMatrix device_vector(const void* data, cudaDataType type, std::int64_t count,
                           std::int64_t stride) {
  const DeviceMatrix vector{data, type, count, 1, stride, count};
  return stride < 0 ? vector.moved((1 - count) * stride) : vector;
}

Values read(const LibraryCall& call, const DeviceMatrix& matrix) {
  Values values(matrix.rows, matrix.columns);
  const Lines lines = lines_of(matrix);
  each_line(call, matrix, AccessKind::load, [&](std::int64_t line, const std::byte* from) {
    double* to = lines.are_columns ? values.column(line) : values.elements.data() + line;
    read_elements(from, lines.step, lines.length, matrix.type, to,
                  lines.are_columns ? 1 : values.rows);
  });
  return values;
}

void write(const LibraryCall& call, const Values& values, const DeviceMatrix& matrix) {
  const Lines lines = lines_of(matrix);
  each_line(call, matrix, AccessKind::store, [&](std::int64_t line, std::byte* to) {
    const double* from = lines.are_columns ? values.column(line) : values.elements.data() + line;
    write_elements(from, lines.length, matrix.type, to, lines.step,
                   lines.are_columns ? 1 : values.rows);
  });
}

double Factor::at(const LibraryCall& call) const {
  if (device == nullptr) return value;
  double result = 0;
  read_elements(call.view(device, bytes_of_element(type), AccessKind::load), 1, 1, type, &result);
  return result;
}

Factor factor(const void* pointer, cudaDataType type, bool on_device) {
  Factor result{0, on_device ? pointer : nullptr, type};
  if (!on_device && pointer != nullptr) {
    read_elements(static_cast<const std::byte*>(pointer), 1, 1, type, &result.value);
  }
  return result;
}

}  // namespace halfgrad::emulator
