#pragma once

#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include <sys/wait.h>

#include <halfgrad/tests/testing/planted/wrong_edges.h>
#include <halfgrad/tests/testing/planted/wrong_settings.h>

/// Right kernels with habits that look like those of wrong ones: they keep memory, results or
/// threads between calls.
namespace halfgrad::testing::planted {

/// A sum in a workspace that is kept for each size, and cleared in each call.
inline Kernel sum_in_workspace() {
  return [spaces = std::map<Index, std::vector<float>>()](const std::vector<Array>& in,
                                                          const Array& out) mutable {
    called([&](const Call& c) {
      std::vector<float>& sums = spaces[c.m * 100'000 + c.k];
      sums.assign(static_cast<std::size_t>(c.m), 0);
      for (Index row = 0; row < c.m; ++row) {
        sums[static_cast<std::size_t>(row)] = sum_of(c, row, 0, c.k);
        c.y(row, sums[static_cast<std::size_t>(row)]);
      }
    })(in, out);
  };
}
/// A product that packs its right operand, and keeps the pack while pointer and content are equal.
inline Kernel product_with_packed_weights() {
  struct Pack {
    const void* from = nullptr;
    std::string content{};
    std::vector<float> columns{};
  };
  return [pack = Pack()](const std::vector<Array>& in, const Array& out) mutable {
    const std::string content = bytes_key({in[1]}, out);
    called([&](const Call& c) {
      const Index n = in[1].size(1);
      if (pack.from != in[1].data() || pack.content != content) {
        pack = {in[1].data(), content, {}};
        for (Index j = 0; j < n; ++j) {
          for (Index p = 0; p < c.k; ++p) pack.columns.push_back(c.w(p * n + j));
        }
      }
      for (Index at = 0; at < c.n(); ++at) {
        float sum = 0;
        for (Index p = 0; p < c.k; ++p) {
          sum += c.x(at / n, p) * pack.columns[static_cast<std::size_t>(at % n * c.k + p)];
        }
        c.y(at, sum);
      }
    })(in, out);
  };
}
/// A thread that is kept between calls, and does half of each.
class KeptThread {
 public:
  KeptThread() : thread_([this] { work(); }) { thread_.detach(); }

  void start(std::function<void()> work) {
    const std::lock_guard lock(mutex_);
    next_ = std::move(work);
    changed_.notify_all();
  }
  void wait() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return !next_; });
  }

 private:
  void work() {
    std::unique_lock lock(mutex_);
    for (;;) {
      changed_.wait(lock, [this] { return static_cast<bool>(next_); });
      next_();
      next_ = nullptr;
      changed_.notify_all();
    }
  }
  std::mutex mutex_;
  std::condition_variable changed_;
  std::function<void()> next_;
  std::thread thread_;
};
inline Kernel relu_on_kept_thread() {
  return called([](const Call& c) {
    static KeptThread* const other = new KeptThread;  // made in the kernel's process
    const auto part = [&c](Index first, Index end) {
      for (Index i = first; i < end; ++i) c.y(i, c.x(i) < 0 ? 0 : c.x(i));
    };
    other->start([&] { part(c.n() / 2, c.n()); });
    part(0, c.n() / 2);
    other->wait();
  });
}
/// Rounds upward for a while, and then to nearest again.
inline Kernel sum_with_own_rounding() {
  return called([right = right_sum()](const Call& c) {
    std::fesetround(FE_UPWARD);
    [[maybe_unused]] volatile float bound = 1.0f / 3.0f;
    std::fesetround(FE_TONEAREST);
    right(c.in, c.out);
  });
}
/// A sum that a copy of the process writes to the output for rows of 64, and that is waited for.
inline Kernel sum_in_copy_of_process() {
  return called([right = right_sum()](const Call& c) {
    if (c.k != 64) return right(c.in, c.out);
    const pid_t child = ::fork();
    if (child == 0) {
      right(c.in, c.out);
      ::_exit(0);
    }
    ::waitpid(child, nullptr, 0);
  });
}

/// A right sum that reads its own inaccessible page, and handles the SIGSEGV.
inline Kernel sum_with_own_guard_page() {
  return called([right = right_sum()](const Call& c) {
    const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
    void* const own = ::mmap(nullptr, page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    swallowing([&] { [[maybe_unused]] const char x = *static_cast<volatile char*>(own); });
    ::munmap(own, page);
    right(c.in, c.out);
  });
}

/// Stays on one processor, and has a timer, for a while.
inline Kernel sum_with_own_settings() {
  return called([right = right_sum()](const Call& c) {
    cpu_set_t before;
    ::sched_getaffinity(0, sizeof before, &before);
    stay_on_one_processor();
    start_a_timer();
    right(c.in, c.out);
    const itimerval none{};
    ::setitimer(ITIMER_REAL, &none, nullptr);
    ::sched_setaffinity(0, sizeof before, &before);
  });
}
/// A sum that stores its results in a list until there are 4096.
inline Kernel sum_with_list() {
  return [right = right_sum(), list = std::vector<float>()](const std::vector<Array>& in,
                                                            const Array& out) mutable {
    right(in, out);
    for (Index i = 0; i < out.numel() && list.size() < 4096; ++i) list.push_back(element(out, i));
  };
}

inline std::vector<PlantedKernel> right_habits() {
  const DType f32 = kFloat32, f16 = kFloat16, bf16 = kBFloat16;
  return {
      {"sum", f32, "own processors and a timer for a while", sum_with_own_settings()},
      {"sum", f32, "a list of 4096 results", sum_with_list()},
      {"mean", f16, "times 1 / k in float32", rows([](const Call& c, Index row) {
         c.y(row, sum_of(c, row, 0, c.k) * (1 / static_cast<float>(c.k)));
       })},
      // All ties of squares lie above an even value.
      {"square", bf16, "to nearest", each([](float x, float) { return x * x; })},
      {"sum", f32, "a workspace for each size", sum_in_workspace()},
      {"sum", f16, "a workspace for each size", sum_in_workspace()},
      {"mm", f32, "packed weights, compared in full", product_with_packed_weights()},
      {"mm", f16, "packed weights, compared in full", product_with_packed_weights()},
      {"softmax", f32, "results by all bytes", repeating(right_softmax(), bytes_key, 1)},
      {"relu", f32, "a thread that is kept, and waited for", relu_on_kept_thread()},
      {"relu", f16, "a thread that is kept, and waited for", relu_on_kept_thread()},
      {"sum", f32, "an own guard page, whose SIGSEGV it handles", sum_with_own_guard_page()},
      {"sum", f32, "an own rounding mode for a while", sum_with_own_rounding()},
      {"sum", f32, "a copy of the process that is waited for", sum_in_copy_of_process()},
  };
}

}  // namespace halfgrad::testing::planted
