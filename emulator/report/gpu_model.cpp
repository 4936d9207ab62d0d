#include <halfgrad/emulator/report/gpu_model.h>

#include <cmath>
#include <stdexcept>
#include <utility>

#include <nlohmann/json.hpp>

namespace halfgrad::emulator {
namespace {

constexpr std::pair<std::string_view, std::string_view> kFiles[] = {
#include "gpu_files.inc"
};

GpuModel read(std::string_view text) {
  const auto json = nlohmann::json::parse(text);
  const auto number = [&](const char* key) { return json.at(key).get<double>(); };
  const auto count = [&](const char* key) { return json.at(key).get<unsigned>(); };
  GpuModel gpu;
  gpu.name = json.at("name").get<std::string>();
  gpu.source = json.at("source").get<std::string>();
  const double capability = std::stod(json.at("compute_capability").get<std::string>());
  gpu.compute_capability = static_cast<unsigned>(std::lround(capability * 10));
  gpu.multiprocessors = count("multiprocessors");
  gpu.clock_hz = number("clock_ghz") * 1e9;
  gpu.memory_bytes_per_second = number("memory_gigabytes_per_second") * 1e9;
  gpu.l2_bytes = std::size_t{count("l2_megabytes")} << 20;
  gpu.shared_bytes = std::size_t{count("shared_kilobytes_per_multiprocessor")} << 10;
  gpu.registers = count("registers_per_multiprocessor");
  gpu.threads = count("threads_per_multiprocessor");
  gpu.blocks = count("blocks_per_multiprocessor");
  const auto& flops = json.at("teraflops");
  gpu.f64_flops = flops.at("f64").get<double>() * 1e12;
  gpu.f32_flops = flops.at("f32").get<double>() * 1e12;
  gpu.f16_flops = flops.at("f16").get<double>() * 1e12;
  gpu.matrix_flops = flops.at("matrix").get<double>() * 1e12;
  gpu.special_functions_per_second =
      number("special_functions_per_cycle") * gpu.multiprocessors * gpu.clock_hz;
  gpu.launch_seconds = json.at("launch_microseconds").at("value").get<double>() * 1e-6;
  return gpu;
}

}  // namespace

std::vector<std::string> gpu_names() {
  std::vector<std::string> names;
  for (const auto& [name, text] : kFiles) names.emplace_back(name);
  return names;
}

GpuModel gpu_model(std::string_view wanted) {
  std::string known;
  for (const auto& [name, text] : kFiles) {
    if (name == wanted) return read(text);
    known += (known.empty() ? "" : ", ") + std::string(name);
  }
  throw std::invalid_argument("gpu: expected one of " + known + ", got " + std::string(wanted));
}

}  // namespace halfgrad::emulator
