#pragma once

#include <halfgrad/compat/names.h>

#include <chrono>
#include <cstddef>
#include <exception>
#include <optional>
#include <stdexcept>
#include <string>

#include <halfgrad/compat/option.h>
#include <halfgrad/core/error.h>

/// Options and errors of libtorch's data loader.
namespace halfgrad::data {

struct DataLoaderOptions {
  DataLoaderOptions() = default;
  DataLoaderOptions(std::size_t batch_size) : batch_size_(batch_size) {}

  TORCH_ARG(std::size_t, batch_size) = 1;
  /// Batches that are computed ahead, each in a thread; 0: in the caller's thread.
  TORCH_ARG(std::size_t, workers) = 0;
  TORCH_ARG(std::optional<std::size_t>, max_jobs) = std::nullopt;
  TORCH_ARG(std::optional<std::chrono::milliseconds>, timeout) = std::nullopt;
  /// Batches are always in order, for any value.
  TORCH_ARG(bool, enforce_ordering) = true;
  TORCH_ARG(bool, drop_last) = false;
};

/// DataLoaderOptions with all values chosen.
struct FullDataLoaderOptions {
  explicit FullDataLoaderOptions(const DataLoaderOptions& options)
      : batch_size(options.batch_size()),
        workers(options.workers()),
        max_jobs(options.max_jobs().value_or(2 * workers)),
        timeout(options.timeout()),
        enforce_ordering(options.enforce_ordering()),
        drop_last(options.drop_last()) {}

  std::size_t batch_size, workers, max_jobs;
  std::optional<std::chrono::milliseconds> timeout;
  bool enforce_ordering, drop_last;
};

/// An exception of a dataset in a worker's thread.
struct WorkerException : halfgrad::detail::Raised<std::runtime_error> {
  explicit WorkerException(const std::exception_ptr& original)
      : Raised("DataLoader: a worker threw: " + text_of(original)), original_exception(original) {}

  std::exception_ptr original_exception;

 private:
  static std::string text_of(const std::exception_ptr& error) {
    try {
      std::rethrow_exception(error);
    } catch (const std::exception& e) {
      return e.what();
    } catch (...) {
      return "an unknown exception";
    }
  }
};

}  // namespace halfgrad::data
