#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace halfgrad::report {

/// Text of a trace in the JSON of Chrome's Trace Event Format, which Perfetto opens:
/// https://docs.google.com/document/d/1CvAClvFfyA5R-PhYUmn5OOQtYMH4h6I0nSsKchNAySU
/// Times are in seconds; the file has microseconds.
class TraceEvents {
 public:
  /// Name and value of an argument that the viewer shows for an event.
  using Arguments = std::vector<std::pair<std::string, std::string>>;

  /// A row of the viewer: a thread of a process.
  struct Track {
    std::int64_t process = 0, thread = 0;
  };

  /// Begins a group of tracks.
  std::int64_t add_process(std::string_view name);
  /// Returns the track of this name in the newest group, and makes both if they are missing.
  Track track(const std::string& name);

  /// A slice. Slices of one track nest, and come in the order of time.
  void begin(Track track, std::string_view name, double at, const Arguments& arguments = {});
  void end(Track track, double at);
  /// An event without a length.
  void instant(Track track, std::string_view name, double at, const Arguments& arguments = {});
  /// A point of a curve of the newest group. JSON has no number that is not finite: such a value
  /// becomes an instant event of the track "counters".
  void counter(const std::string& name, double at, double value);
  /// An arrow between slices: from the one that begins on `from` at `start` to the one on `to`.
  void arrow(std::int64_t id, Track from, double start, Track to, double end);

  /// Bytes of the events.
  std::size_t size() const { return events_.size(); }
  /// The whole file.
  std::string text() const;

 private:
  std::int64_t newest_process();
  std::string& add(std::string_view phase, Track track, std::string_view name, double at);
  void add_arguments(const Arguments& arguments);
  void name(std::string_view kind, Track track, std::string_view name);

  std::string events_;  // separated by ",\n"; without a comma at the end
  std::int64_t processes_ = 0;
  std::map<std::string, std::int64_t> threads_;  // threads of the newest process
};

}  // namespace halfgrad::report
