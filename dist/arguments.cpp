#include <halfgrad/dist/arguments.h>

#include <halfgrad/core/fail.h>

namespace halfgrad::dist {
namespace {

using halfgrad::detail::fail;
using halfgrad::detail::memory_of;

void expect_contiguous(const char* op, const Array& array) {
  if (!array.defined()) fail(op, "expected an array, got an undefined one");
  if (!array.is_contiguous()) {
    fail(op, "expected a contiguous array, got sizes {} with strides {}; call contiguous()",
         array.sizes(), array.strides());
  }
}

void expect_average(const char* op, DType dtype, ReduceOp reduce) {
  if (reduce == ReduceOp::average && !is_floating_point(dtype)) {
    fail(op, "expected a floating dtype for an average, got {}", dtype);
  }
}

// `whole` has `size` times the elements of `part`.
void expect_parts(const char* op, const Array& whole, const Array& part, int size) {
  if (whole.dtype() != part.dtype() || whole.device() != part.device()) {
    fail(op, "expected input and output of one dtype and device, got {} on {} and {} on {}",
         whole.dtype(), whole.device(), part.dtype(), part.device());
  }
  if (whole.numel() != part.numel() * size) {
    fail(op, "expected {} elements, {} for each of {} ranks, got {}", part.numel() * size,
         part.numel(), size, whole.numel());
  }
}

// `part` is exactly the rank's part of `whole`, or elsewhere.
void expect_own_part(const char* op, const Array& whole, const Array& part, int rank) {
  const auto [whole_begin, whole_end] = memory_of(whole);
  const auto [begin, end] = memory_of(part);
  if (end <= whole_begin || whole_end <= begin) return;
  if (begin != whole_begin + (end - begin) * rank) {
    fail(op,
         "expected input and output that do not overlap, or the smaller as part {} of the larger",
         rank);
  }
}

}  // namespace

void expect_timeout(const char* op, std::chrono::milliseconds timeout) {
  if (timeout.count() <= 0) fail(op, "expected a positive timeout, got {} ms", timeout.count());
}

void expect_all_reduce(const Array& array, ReduceOp op) {
  expect_contiguous("all_reduce", array);
  expect_average("all_reduce", array.dtype(), op);
}

void expect_reduce_scatter(const Array& output, const Array& input, ReduceOp op, int size,
                           int rank) {
  expect_contiguous("reduce_scatter", output);
  expect_contiguous("reduce_scatter", input);
  expect_average("reduce_scatter", input.dtype(), op);
  expect_parts("reduce_scatter", input, output, size);
  expect_own_part("reduce_scatter", input, output, rank);
}

void expect_all_gather(const Array& output, const Array& input, int size, int rank) {
  expect_contiguous("all_gather", output);
  expect_contiguous("all_gather", input);
  expect_parts("all_gather", output, input, size);
  expect_own_part("all_gather", output, input, rank);
}

void expect_broadcast(const Array& array, int root, int size) {
  expect_contiguous("broadcast", array);
  if (root < 0 || root >= size) {
    fail("broadcast", "expected a root in [0, {}), got {}", size, root);
  }
}

}  // namespace halfgrad::dist
