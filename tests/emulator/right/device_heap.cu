// Threads allocate and free on the device's heap, and print.
#include "../right.h"

struct Node {
  int value;
  Node* next;
};

__global__ void lists(int* sums) {
  Node* head = nullptr;
  for (int k = 0; k <= int(threadIdx.x); ++k) head = new Node{k, head};
  int sum = 0;
  while (head != nullptr) {
    sum += head->value;
    Node* next = head->next;
    delete head;
    head = next;
  }
  int* buffer = static_cast<int*>(malloc(4 * sizeof(int)));
  for (int k = 0; k < 4; ++k) buffer[k] = sum;
  sums[threadIdx.x] = buffer[threadIdx.x % 4];
  free(buffer);
  if (threadIdx.x < 2) printf("thread %d: %d %s %.2f\n", threadIdx.x, sum, "of a list", 0.5 * sum);
}

int main() {
  CHECK(cudaDeviceSetLimit(cudaLimitMallocHeapSize, 4 << 20));
  Buffer<int> sums(40);
  lists<<<1, 40>>>(sums);
  settle();
  const auto host = values(sums.data, 40);
  for (int i = 0; i < 40; ++i) EXPECT(host[i] == i * (i + 1) / 2);
}
