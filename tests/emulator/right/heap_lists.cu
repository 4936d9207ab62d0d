// Threads build lists in the device's heap; another thread frees them after a barrier, or a later
// kernel does.
#include "../right.h"

struct Node {
  int value;
  Node* next;
};

__global__ void sums(int* out, int n) {
  __shared__ Node* heads[64];
  Node* head = nullptr;
  for (int i = 0; i < n; ++i) head = new Node{i + static_cast<int>(threadIdx.x), head};
  heads[threadIdx.x] = head;
  __syncthreads();
  int sum = 0;
  for (Node* node = heads[63 - threadIdx.x]; node != nullptr; node = node->next) sum += node->value;
  out[threadIdx.x] = sum;
  __syncthreads();
  for (Node* node = heads[(threadIdx.x + 1) % 64]; node != nullptr;) {
    Node* next = node->next;
    delete node;
    node = next;
  }
}

__global__ void make(char** pieces) {
  char* piece = static_cast<char*>(malloc(threadIdx.x + 1));
  for (int i = 0; i <= threadIdx.x; ++i) piece[i] = static_cast<char>(i);
  pieces[threadIdx.x] = piece;
}
__global__ void take(char** pieces, int* out) {
  char* piece = pieces[63 - threadIdx.x];
  out[threadIdx.x] = piece[63 - threadIdx.x];
  free(piece);
  free(nullptr);
}

int main() {
  Buffer<int> out(64);
  sums<<<1, 64>>>(out, 5);
  settle();
  EXPECT(values(out.data, 64)[0] == 5 * 63 + 10);
  Buffer<char*> pieces(64);
  for (int i = 0; i < 3; ++i) {
    make<<<1, 64>>>(pieces);
    take<<<1, 64>>>(pieces, out);
    settle();
    EXPECT(values(out.data, 64)[7] == 56);
  }
}
