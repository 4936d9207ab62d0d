// A child process ends by _exit, and the program by quick_exit, both without destructors.
#include <sys/wait.h>
#include <unistd.h>

#include "../right.h"

__global__ void fill(int* x) { x[threadIdx.x] = threadIdx.x; }

int main() {
  auto* const x = new Buffer<int>(64);
  fill<<<1, 64>>>(*x);
  settle();
  const pid_t child = fork();
  if (child == 0) _exit(7);
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT(WIFEXITED(status) && WEXITSTATUS(status) == 7);
  EXPECT(values(x->data, 64)[63] == 63);
  std::quick_exit(0);
}
