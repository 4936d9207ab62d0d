#include <halfgrad/report/trace/trace_events.h>

#include <array>
#include <charconv>
#include <cmath>

namespace halfgrad::report {
namespace {

/// JSON's escapes: RFC 8259, section 7.
std::string json_text(std::string_view text) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string json = "\"";
  for (const char c : text) {
    const auto code = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      json += {'\\', c};
    } else if (code < 0x20) {
      json += "\\u00";
      json += {kDigits[code >> 4], kDigits[code & 15]};
    } else {
      json += c;
    }
  }
  return json + '"';
}

/// Microseconds with three decimals: a viewer keeps nanoseconds.
std::string microseconds(double seconds) {
  std::array<char, 64> text;
  const auto end = std::to_chars(text.data(), text.data() + text.size(), seconds * 1e6,
                                 std::chars_format::fixed, 3);
  return {text.data(), end.ptr};
}

std::string shortest(double value) {
  std::array<char, 32> text;
  return {text.data(), std::to_chars(text.data(), text.data() + text.size(), value).ptr};
}

}  // namespace

std::int64_t TraceEvents::add_process(std::string_view name) {
  ++processes_;
  threads_.clear();
  this->name("process_name", {processes_, 0}, name);
  return processes_;
}

std::int64_t TraceEvents::newest_process() {
  return processes_ == 0 ? add_process("training") : processes_;
}

TraceEvents::Track TraceEvents::track(const std::string& name) {
  const std::int64_t process = newest_process();
  const auto [found, is_new] = threads_.try_emplace(name, std::ssize(threads_) + 1);
  const Track track{process, found->second};
  if (is_new) this->name("thread_name", track, name);
  return track;
}

std::string& TraceEvents::add(std::string_view phase, Track track, std::string_view name,
                              double at) {
  if (!events_.empty()) events_ += ",\n";
  events_ += "{\"ph\":" + json_text(phase) + ",\"pid\":" + std::to_string(track.process) +
             ",\"tid\":" + std::to_string(track.thread) + ",\"ts\":" + microseconds(at);
  if (!name.empty()) events_ += ",\"name\":" + json_text(name);
  return events_;
}

void TraceEvents::add_arguments(const Arguments& arguments) {
  const char* separator = ",\"args\":{";
  for (const auto& [name, value] : arguments) {
    events_ += separator + json_text(name) + ':' + json_text(value);
    separator = ",";
  }
  if (!arguments.empty()) events_ += '}';
  events_ += '}';
}

void TraceEvents::name(std::string_view kind, Track track, std::string_view name) {
  add("M", track, kind, 0);
  add_arguments({{"name", std::string(name)}});
}

void TraceEvents::begin(Track track, std::string_view name, double at, const Arguments& arguments) {
  add("B", track, name, at);
  add_arguments(arguments);
}

void TraceEvents::end(Track track, double at) { add("E", track, "", at) += '}'; }

void TraceEvents::instant(Track track, std::string_view name, double at,
                          const Arguments& arguments) {
  add("i", track, name, at) += ",\"s\":\"t\"";  // drawn as high as the track
  add_arguments(arguments);
}

void TraceEvents::counter(const std::string& name, double at, double value) {
  if (!std::isfinite(value)) {
    const std::string text = std::isnan(value) ? "nan" : value > 0 ? "inf" : "-inf";
    return instant(track("counters"), name + " is " + text, at);
  }
  add("C", {newest_process(), 0}, name, at) += ",\"args\":{\"value\":" + shortest(value) + "}}";
}

void TraceEvents::arrow(std::int64_t id, Track from, double start, Track to, double end) {
  const std::string rest = ",\"cat\":\"gradient\",\"id\":" + std::to_string(id);
  add("s", from, "gradient", start) += rest + '}';
  add("f", to, "gradient", end) += rest + ",\"bp\":\"e\"}";  // ends at the slice around it
}

std::string TraceEvents::text() const {
  return "{\"displayTimeUnit\":\"ms\",\"otherData\":{\"writer\":\"halfgrad\"},\"traceEvents\":[\n" +
         events_ + "\n]}\n";
}

}  // namespace halfgrad::report
