#include <halfgrad/report/trace/tensorboard_writer.h>

#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <limits>
#include <span>
#include <stdexcept>
#include <system_error>
#include <vector>

#include <halfgrad/core/fail.h>
#include <halfgrad/files/replace_file.h>
#include <halfgrad/files/temporary_file.h>
#include <halfgrad/report/trace/crc32c.h>
#include <halfgrad/report/trace/protobuf_message.h>

namespace halfgrad::report {
namespace {

double seconds_since_1970() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

/// TensorBoard reads files with "tfevents" in their name, in the order of the names.
std::string new_name() {
  static std::atomic<int> count{0};
  std::array<char, 256> host{};
  ::gethostname(host.data(), host.size() - 1);
  return "events.out.tfevents." + std::to_string(static_cast<std::int64_t>(seconds_since_1970())) +
         '.' + host.data() + '.' + std::to_string(::getpid()) + '.' + std::to_string(count++);
}

std::string little_endian(std::uint64_t value, int size) {
  std::string bytes;
  for (int i = 0; i < size; ++i) bytes += static_cast<char>(value >> (8 * i));
  return bytes;
}

/// Upper ends of the buckets of tensorflow/core/lib/histogram/histogram.cc.
std::vector<double> bucket_limits() {
  std::vector<double> positive;
  for (double limit = 1e-12; limit < 1e20; limit *= 1.1) positive.push_back(limit);
  std::vector<double> limits;
  for (const double limit : positive) limits.push_back(-limit);
  std::ranges::reverse(limits);
  limits.push_back(0);
  limits.insert(limits.end(), positive.begin(), positive.end());
  limits.push_back(std::numeric_limits<double>::max());
  return limits;
}

/// Counts by bucket, with sums of the values.
struct Histogram {
  double min = HUGE_VAL, max = -HUGE_VAL, count = 0, sum = 0, squares = 0;
  std::vector<double> limits, counts;

  void add(double value, double times) {
    min = std::min(min, value);
    max = std::max(max, value);
    count += times;
    sum += times * value;
    squares += times * value * value;
  }

  /// HistogramProto of tensorflow/core/framework/summary.proto, without the empty buckets at the
  /// ends; the first bucket then begins where an empty one ends.
  ProtobufMessage message() const {
    std::size_t first = 0, end = counts.size();
    while (first < end && counts[first] == 0) ++first;
    while (end > first && counts[end - 1] == 0) --end;
    if (first > 0) --first;
    const bool is_empty = count == 0;
    return ProtobufMessage()
        .float64(1, is_empty ? 0 : min)
        .float64(2, is_empty ? 0 : max)
        .float64(3, count)
        .float64(4, sum)
        .float64(5, squares)
        .packed(6, std::span(limits).subspan(first, end - first))
        .packed(7, std::span(counts).subspan(first, end - first));
  }
};

}  // namespace

TensorBoardWriter::TensorBoardWriter(const std::filesystem::path& folder)
    : file_(folder / new_name()) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  constexpr mode_t kMode = 0666;  // less the umask
  descriptor_ = files::Descriptor(file_, O_WRONLY | O_CREAT | O_EXCL | O_APPEND, kMode);
  if (!descriptor_.is_open()) refuse("to make");
  // The version that readers expect in the first event: field 3 of event.proto.
  write_record(ProtobufMessage().float64(1, seconds_since_1970()).text(3, "brain.Event:2").bytes());
}

void TensorBoardWriter::refuse(const char* what) const {
  const auto reason = std::generic_category().message(errno);
  detail::fail<files::WriteError>("TensorBoardWriter", "expected {} {}, got: {}", what,
                                  file_.string(), reason);
}

// The record format of tensorflow/core/lib/io/record_writer.h:
//   uint64 length, uint32 masked CRC of the length, the bytes, uint32 masked CRC of the bytes
void TensorBoardWriter::write_record(const std::string& bytes) {
  if (!descriptor_.is_open()) {
    throw halfgrad::detail::Raised<std::logic_error>(
        "TensorBoardWriter: expected an open file, got one after close()");
  }
  const std::string length = little_endian(bytes.size(), 8);
  const std::string record = length + little_endian(masked(crc32c(length)), 4) + bytes +
                             little_endian(masked(crc32c(bytes)), 4);
  if (!files::write_all(descriptor_, std::as_bytes(std::span(record)))) refuse("to write");
}

// Event of tensorflow/core/util/event.proto: wall_time 1, step 2, summary 5; Summary of
// framework/summary.proto: repeated value 1.
void TensorBoardWriter::add(const ProtobufMessage& value, std::int64_t global_step) {
  write_record(ProtobufMessage()
                   .float64(1, seconds_since_1970())
                   .integer(2, global_step)
                   .message(5, ProtobufMessage().message(1, value))
                   .bytes());
}

// Summary.Value: tag 1, simple_value 2, histo 5, tensor 8, metadata 9.
void TensorBoardWriter::add_scalar(const std::string& tag, double value, std::int64_t global_step) {
  add(ProtobufMessage().text(1, tag).float32(2, static_cast<float>(value)), global_step);
}

void TensorBoardWriter::add_histogram(const std::string& tag, const Array& values,
                                      std::int64_t global_step) {
  if (!is_floating_point(values.dtype())) {
    detail::fail("add_histogram", "expected floating-point values, got {}", values.dtype());
  }
  static const std::vector<double> kLimits = bucket_limits();
  Histogram histogram{.limits = kLimits, .counts = std::vector<double>(kLimits.size())};
  const Array on_host = values.to(kDouble).to(kCPU).contiguous();
  for (const double value : std::span(on_host.data_as<double>(), on_host.numel())) {
    if (!std::isfinite(value)) continue;
    histogram.add(value, 1);
    const auto limit = std::upper_bound(kLimits.begin(), kLimits.end() - 1, value);
    ++histogram.counts[static_cast<std::size_t>(limit - kLimits.begin())];
  }
  add(ProtobufMessage().text(1, tag).message(5, histogram.message()), global_step);
}

void TensorBoardWriter::add_exponents(const std::string& tag,
                                      const amp::ExponentHistogram& exponents,
                                      std::int64_t global_step) {
  using amp::ExponentHistogram;
  Histogram histogram;
  for (int exponent = ExponentHistogram::kFirst; exponent <= ExponentHistogram::kLast; ++exponent) {
    const auto count = static_cast<double>(exponents.count(exponent));
    histogram.limits.push_back(exponent + 1);
    histogram.counts.push_back(count);
    if (count > 0) histogram.add(exponent, count);
  }
  histogram.max += 1;  // the end of the last bucket
  add(ProtobufMessage().text(1, tag).message(5, histogram.message()), global_step);
}

// SummaryMetadata: plugin_data 1 with plugin_name 1. TensorProto of framework/tensor.proto: dtype 1
// (DT_STRING is 7), tensor_shape 2 with dim 2 of size 1, string_val 8.
void TensorBoardWriter::add_text(const std::string& tag, const std::string& text,
                                 std::int64_t global_step) {
  constexpr std::int64_t kString = 7;
  const auto shape = ProtobufMessage().message(2, ProtobufMessage().integer(1, 1));
  const auto tensor = ProtobufMessage().integer(1, kString).message(2, shape).text(8, text);
  const auto metadata = ProtobufMessage().message(1, ProtobufMessage().text(1, "text"));
  add(ProtobufMessage().text(1, tag).message(8, tensor).message(9, metadata), global_step);
}

void TensorBoardWriter::flush() {
  if (descriptor_.is_open() && ::fsync(descriptor_.number()) != 0 && errno != EINVAL) {
    refuse("to write");
  }
}

void TensorBoardWriter::close() {
  flush();
  descriptor_ = files::Descriptor();
}

}  // namespace halfgrad::report
