#include <halfgrad/emulator/settings.h>

#include <cstdlib>
#include <stdexcept>

#include <nlohmann/json.hpp>

namespace halfgrad::emulator {
namespace {

/// Calls f(name, member) for every setting: the one list of their names.
template <class S, class F>
void each_setting(S& s, F f) {
  f("check_memory", s.check_memory);
  f("check_race", s.check_race);
  f("check_init", s.check_init);
  f("check_sync", s.check_sync);
  f("check_leak", s.check_leak);
  f("lazy_streams", s.lazy_streams);
  f("seed", s.seed);
  f("devices", s.devices);
  f("memory", s.memory);
  f("gpu", s.gpu);
  f("threads", s.threads);
  f("max_instructions", s.max_instructions);
  f("collective_patience", s.collective_patience);
  f("continue_after_abort", s.continue_after_abort);
  f("mutant", s.mutant);
  f("step", s.step);
  f("step_kernel", s.step_kernel);
  f("multiprocessors", s.multiprocessors);
  f("refuse", s.refuse);
  f("relu_keeps_nan", s.relu_keeps_nan);
  f("quiet", s.quiet);
  f("report_json", s.report_json);
  f("suppress", s.suppress);
  f("trace", s.trace);
}

}  // namespace

Settings parse_settings(const std::string& json) {
  nlohmann::json values;
  try {
    values = nlohmann::json::parse(json);
  } catch (const nlohmann::json::exception& error) {
    throw std::invalid_argument(std::string("HALFGRAD_EMULATE: expected a JSON object, got ") +
                                json);
  }
  Settings result;
  each_setting(result, [&](const char* name, auto& member) {
    const auto found = values.find(name);
    if (found == values.end()) return;
    try {
      found->get_to(member);
    } catch (const nlohmann::json::exception&) {
      throw std::invalid_argument(std::string("HALFGRAD_EMULATE: expected another type of ") +
                                  name + ", got " + found->dump());
    }
    values.erase(found);
  });
  for (const auto& [name, value] : values.items()) {
    throw std::invalid_argument("HALFGRAD_EMULATE: unknown setting " + name);
  }
  return result;
}

std::string to_json(const Settings& settings) {
  nlohmann::json values;
  each_setting(settings, [&](const char* name, const auto& member) { values[name] = member; });
  return values.dump();
}

const Settings& settings() {
  // Never destroyed: the report is written after all destructors.
  static const Settings& from_environment = *new Settings([] {
    const char* json = std::getenv("HALFGRAD_EMULATE");
    return json == nullptr ? Settings{} : parse_settings(json);
  }());
  return from_environment;
}

}  // namespace halfgrad::emulator
