#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <random>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include <halfgrad/emulator/checks/finding.h>
#include <halfgrad/emulator/memory/allocations.h>
#include <halfgrad/emulator/ptx/module.h>
#include <halfgrad/emulator/settings.h>
#include <halfgrad/emulator/simt/launch.h>

namespace halfgrad::emulator {

/// An array that a PTX test reads: 64 bits a thread, of which instructions take what they need.
using Words = std::vector<std::uint64_t>;

/// The kernel around a test's body. Thread i finds element i of the inputs in %a0, %a1, ... (64
/// bits), %w0, ... (32 bits), %h0, ... (16 bits), %f0, ... (f32) and %d0, ... (f64), and leaves its
/// result in %result, 64 bits that are 0 at first. Free registers: %ta<8> (64), %tw<8>, %th<8>,
/// %tf<8>, %td<8>, %p<8>.
inline std::string kernel_around(const std::string& body, std::size_t inputs) {
  std::ostringstream text;
  text << ".version 8.6\n.target sm_100\n.address_size 64\n.visible .entry test(.param .u64 out";
  for (std::size_t i = 0; i < inputs; ++i) text << ", .param .u64 in" << i;
  text << ", .param .u32 count)\n{\n.reg .pred %p<8>, %outside;\n"
          ".reg .b64 %a<8>, %ta<8>, %address, %base, %result;\n.reg .b32 %w<8>, %tw<8>, %index, "
          "%size, %block;\n.reg .b16 %h<8>, %th<8>;\n.reg .f32 %f<8>, %tf<8>;\n"
          ".reg .f64 %d<8>, %td<8>;\n"
          "mov.u32 %index, %tid.x;\nmov.u32 %block, %ctaid.x;\nmad.lo.u32 %index, %block, 256, "
          "%index;\nld.param.u32 %size, [count];\nsetp.ge.u32 %outside, %index, %size;\n"
          "@%outside ret;\n";
  for (std::size_t i = 0; i < inputs; ++i) {
    text << "ld.param.u64 %base, [in" << i << "];\nmad.wide.u32 %address, %index, 8, %base;\n"
         << "ld.global.u64 %a" << i << ", [%address];\nld.global.u32 %w" << i << ", [%address];\n"
         << "ld.global.u16 %h" << i << ", [%address];\nld.global.f32 %f" << i << ", [%address];\n"
         << "ld.global.f64 %d" << i << ", [%address];\n";
  }
  text << "mov.u64 %result, 0;\n"
       << body << "\nld.param.u64 %base, [out];\n"
       << "mad.wide.u32 %address, %index, 8, %base;\nst.global.u64 [%address], %result;\nret;\n}\n";
  return text.str();
}

/// Runs the body for each element of the inputs, which have one size, and returns the results.
/// Throws if the kernel aborts, such as for an unknown instruction.
inline Words run_ptx(const std::string& body, const std::vector<Words>& inputs) {
  Module module(kernel_around(body, inputs.size()));
  Allocations memory;
  FindingLog findings;
  Settings settings;
  settings.check_race = settings.check_init = false;
  settings.threads = 1;
  const Machine machine{memory, findings, settings};
  const std::size_t count = inputs.at(0).size();
  std::vector<std::byte> parameters;
  const auto parameter = [&](auto value) {
    const auto bytes = std::bit_cast<std::array<std::byte, sizeof value>>(value);
    parameters.insert(parameters.end(), bytes.begin(), bytes.end());
  };
  const auto array = [&](const std::uint64_t* values) {
    const Allocation* made =
        memory.allocate(MemoryKind::device, 0, std::max<std::size_t>(count, 1) * 8, 256, "a test");
    if (values != nullptr) std::memcpy(made->host, values, count * 8);
    if (made->written != nullptr) std::memset(made->written, 1, made->bytes);
    parameter(made->begin);
    return made;
  };
  const Allocation* out = array(nullptr);
  for (const Words& input : inputs) array(input.data());
  parameter(static_cast<std::uint32_t>(count));
  const Kernel* kernel = module.kernel("test");
  parameters.resize(kernel->parameter_bytes);
  LaunchRequest request{.module = module,
                        .kernel = *kernel,
                        .grid = {static_cast<unsigned>((count + 255) / 256)},
                        .block = {256},
                        .parameters = parameters.data()};
  run(machine, request);
  if (findings.has_errors()) throw std::runtime_error(to_string(findings.all().front()));
  Words results(count);
  std::memcpy(results.data(), out->host, count * 8);
  return results;
}

/// Edge values of integers of all sizes and of f64, f32, f16 and bf16 in the low bits.
inline Words edge_words() {
  Words edges = {0, 1, 2, 3, 7, 31, 32, 33, 63, 64, 65, 127, 128, 255, 256};
  for (const unsigned bits : {8u, 16u, 32u, 64u}) {
    const std::uint64_t top = std::uint64_t{1} << (bits - 1);
    for (const std::uint64_t x : {top - 1, top, top + 1, top * 2 - 1, top * 2 - 2})
      edges.push_back(x);
  }
  for (const float x :
       {0.5f, 1.0f, 1.5f, 2.5f, 1e-45f, 1.17549435e-38f, 3.4e38f, 65504.0f, 448.0f, 2147483648.0f,
        4294967296.0f, 0.99999994f, std::numeric_limits<float>::infinity()}) {
    const auto bits = std::bit_cast<std::uint32_t>(x);
    edges.insert(edges.end(), {bits, bits | 0x80000000u, bits >> 16, bits >> 16 | 0x8000});
    const auto wide = std::bit_cast<std::uint64_t>(static_cast<double>(x));
    edges.insert(edges.end(), {wide, wide | std::uint64_t{1} << 63, wide + 1, wide - 1});
  }
  edges.insert(edges.end(), {0x7fc00000, 0x7fffffff, 0xffc00001, 0x7f800001, 0x7ff8000000000000,
                             0xfff8000000000000, 0x7e00, 0x7c00, 0xfc00, 0x03ff, 0x0400, 0x7bff});
  return edges;
}

/// Pairs (or more) of operands: all pairs of edges, then random bits up to `count` elements.
inline std::vector<Words> operands(unsigned arrays, std::size_t count, unsigned seed = 1) {
  std::mt19937_64 random(seed);
  const Words edges = edge_words();
  std::vector<Words> result(arrays, Words(count));
  for (std::size_t i = 0; i < count; ++i) {
    std::size_t pair = i;
    for (Words& array : result) {
      const bool is_edge = pair < edges.size() || (i < edges.size() * edges.size());
      array[i] = is_edge ? edges[pair % edges.size()] : random();
      pair /= edges.size();
    }
  }
  return result;
}

}  // namespace halfgrad::emulator
