#pragma once

#include <filesystem>
#include <fstream>
#include <map>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

/// Reads the trace that a test has written.
namespace halfgrad::report {

using nlohmann::json;

inline json events_of(const std::filesystem::path& file) {
  std::ifstream text(file);
  return json::parse(text).at("traceEvents");
}

/// One slice: a begin with its end.
struct Slice {
  std::string name, parent;
  double start, end;
};

/// A trace as a viewer reads it. Throws unless each begin has its end, slices nest, and the times
/// of a track rise.
struct Timeline {
  explicit Timeline(const json& events) {
    std::map<std::pair<int, int>, std::vector<Slice>> open;
    std::map<std::pair<int, int>, double> last;
    for (const json& event : events) {
      const std::pair<int, int> track{event.at("pid"), event.at("tid")};
      const std::string phase = event.at("ph");
      if (phase == "M") {
        const std::string name = event.at("args").at("name");
        (event.at("name") == "process_name" ? processes : tracks)[track] = name;
        continue;
      }
      const double at = event.at("ts");
      if (phase == "B" || phase == "E") {
        if (at < last[track]) throw std::logic_error("time goes back in " + tracks.at(track));
        last[track] = at;
      }
      std::vector<Slice>& stack = open[track];
      if (phase == "B") {
        stack.push_back({event.at("name"), stack.empty() ? "" : stack.back().name, at, at});
      } else if (phase == "E") {
        if (stack.empty()) throw std::logic_error("an end without a begin");
        stack.back().end = at;
        slices[tracks.at(track)].push_back(stack.back());
        stack.pop_back();
      } else if (phase == "i") {
        instants[tracks.at(track)].push_back(event.at("name"));
      } else if (phase == "C") {
        counters[event.at("name")].push_back(event.at("args").at("value"));
      } else {
        arrows[event.at("id")][phase] = event;
      }
    }
    for (const auto& [track, stack] : open) {
      if (!stack.empty()) throw std::logic_error("a begin without an end: " + stack.back().name);
    }
  }

  std::vector<std::string> names(const std::string& track) const {
    std::vector<std::string> all;
    for (const Slice& slice : slices.at(track)) all.push_back(slice.name);
    return all;
  }

  std::map<std::pair<int, int>, std::string> processes, tracks;
  std::map<std::string, std::vector<Slice>> slices;  // in the order of their ends
  std::map<std::string, std::vector<std::string>> instants;
  std::map<std::string, std::vector<double>> counters;
  std::map<int, std::map<std::string, json>> arrows;
};

}  // namespace halfgrad::report
