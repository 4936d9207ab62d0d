#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include <halfgrad/amp/inspector/exponent_histogram.h>
#include <halfgrad/core/array.h>
#include <halfgrad/files/descriptor.h>

namespace halfgrad::report {

class ProtobufMessage;

/// Writes an event file that TensorBoard reads while the run goes on; the functions have the names
/// of torch.utils.tensorboard.SummaryWriter:
///
///   report::TensorBoardWriter board("runs/first");
///   board.add_scalar("loss", loss.item(), step);
///
///   tensorboard --logdir runs
///
/// Every event reaches the system at once, so a run that is killed leaves all but the last one.
/// Functions throw files::WriteError if the file cannot be written, and std::logic_error after
/// close().
class TensorBoardWriter {
 public:
  /// Makes the folder if it is missing, and a file of a new name in it: a run that is resumed adds
  /// a file. Throws files::WriteError if that is impossible.
  explicit TensorBoardWriter(const std::filesystem::path& folder);

  /// TensorBoard keeps float32: other values are rounded.
  void add_scalar(const std::string& tag, double value, std::int64_t global_step);
  /// Counts the finite elements in TensorFlow's buckets, which grow by a tenth: [1, 1.1] x 1e-12
  /// and so on. Throws std::invalid_argument unless the dtype is floating point. Waits for a GPU.
  void add_histogram(const std::string& tag, const Array& values, std::int64_t global_step);
  /// A histogram of binary exponents: the axis is log2 of the magnitude, and zeros and values that
  /// are not finite are left out.
  void add_exponents(const std::string& tag, const amp::ExponentHistogram& exponents,
                     std::int64_t global_step);
  /// Markdown.
  void add_text(const std::string& tag, const std::string& text, std::int64_t global_step);

  /// Writes the file to the disk.
  void flush();
  /// Ends the file. A second call does nothing.
  void close();
  const std::filesystem::path& file() const { return file_; }

 private:
  void add(const ProtobufMessage& value, std::int64_t global_step);
  void write_record(const std::string& bytes);
  void refuse(const char* what) const;

  std::filesystem::path file_;
  files::Descriptor descriptor_;
};

}  // namespace halfgrad::report
