// Exercise 2: a sum in fp16 that does not stall.
#include "exercise.h"

void add(Sum& sum, Fp16 x) {
  // solution begin
  // blank: sum.total = sum.total + x;  // stalls at 2048: use sum.lost
  const Fp16 corrected = x - sum.lost;
  const Fp16 next = sum.total + corrected;
  sum.lost = (next - sum.total) - corrected;
  sum.total = next;
  // solution end
}
