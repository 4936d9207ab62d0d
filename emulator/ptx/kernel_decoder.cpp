#include <halfgrad/emulator/ptx/kernel_decoder.h>

#include <algorithm>
#include <array>
#include <map>
#include <stdexcept>

#include <halfgrad/emulator/ptx/encoder.h>

namespace halfgrad::emulator {

void KernelDecoder::run(const FunctionEntry& entry) {
  Kernel& kernel = decoded_.kernel;
  kernel.main = &add(entry);
  decode_all();
  add_callable_functions();
  check_calls();
  kernel.parameter_bytes = kernel.main->launch_parameter_bytes;
  count_instructions();
  find_local_bytes();
}

Function& KernelDecoder::add(const FunctionEntry& entry) {
  const auto [found, added] = by_name_.try_emplace(entry.name, nullptr);
  if (added) {
    Function& function = decoded_.functions.emplace_back();
    function.name = entry.name;
    entries_.push_back(&entry);
    decoded_.kernel.functions.push_back(&function);
    found->second = &function;
  }
  return *found->second;
}

/// Decodes functions until their calls name no further one.
void KernelDecoder::decode_all() {
  for (std::size_t i = decoded_.functions.size() - 1; i < decoded_.functions.size(); ++i) {
    FunctionDecoder decoder(index_, *entries_[i], decoded_.functions[i], *this);
    decoder.run();
    if (i != 0) continue;
    const KernelDirectives& directives = decoder.directives();
    decoded_.kernel.max_threads = directives.max_threads;
    decoded_.kernel.min_blocks = directives.min_blocks;
    decoded_.kernel.required_threads = directives.required_threads;
    decoded_.kernel.required_cluster = directives.required_cluster;
  }
}

/// An indirect call may reach any function of the module: its address may lie in memory.
void KernelDecoder::add_callable_functions() {
  const auto calls_indirectly = [](const Function& function) {
    return std::any_of(function.calls.begin(), function.calls.end(),
                       [](const Call& call) { return call.address != kNoOffset; });
  };
  if (std::none_of(decoded_.functions.begin(), decoded_.functions.end(), calls_indirectly)) return;
  for (const auto& [name, entry] : index_.functions) {
    if (entry.is_kernel || !entry.defined || by_name_.count(name) != 0) continue;
    add(entry);
    decode_all();
  }
}

SymbolAddress KernelDecoder::address_of(std::string_view name) {
  if (const auto shared = index_.shared.find(name); shared != index_.shared.end()) {
    const SharedEntry& entry = shared->second;
    if (entry.dynamic) {
      add_dynamic_shared(entry.alignment);
      return {Special::dynamic_smem_begin, 0};
    }
    const auto [placed, added] = shared_.try_emplace(shared->first, 0);
    if (added) placed->second = add_shared(entry.bytes, entry.alignment);
    return {std::nullopt, placed->second};
  }
  if (const auto variable = index_.variables.find(name); variable != index_.variables.end()) {
    if (variable->second.external) {
      throw UnknownInstruction("no module defines the variable " + std::string(name));
    }
    return {std::nullopt, variable->second.address};
  }
  if (const FunctionEntry* entry = index_.function(name)) return {std::nullopt, entry->address};
  throw UnknownInstruction("unknown symbol " + std::string(name));
}

const Function* KernelDecoder::function(std::string_view name) {
  const FunctionEntry* entry = index_.function(name);
  return entry == nullptr || !entry->defined ? nullptr : &add(*entry);
}

std::uint64_t KernelDecoder::add_shared(std::size_t bytes, std::size_t alignment) {
  const std::size_t begin = align_up(decoded_.kernel.static_shared_bytes, alignment);
  decoded_.kernel.static_shared_bytes = begin + bytes;
  return begin;
}

void KernelDecoder::add_dynamic_shared(std::size_t alignment) {
  auto& known = decoded_.kernel.dynamic_shared_alignment;
  known = std::max(known, alignment);
}

std::optional<SharedArray> KernelDecoder::shared_array(std::string_view name) {
  const auto shared = index_.shared.find(name);
  if (shared == index_.shared.end() || shared->second.dynamic) return std::nullopt;
  const std::uint64_t begin = address_of(name).value;
  return SharedArray{std::string(name), begin, begin + shared->second.bytes};
}

/// Arguments and results of a call must have the sizes that the callee declares.
void KernelDecoder::check_calls() const {
  const auto fits = [](const std::vector<Parameter>& given,
                       const std::vector<Parameter>& declared) {
    return std::equal(given.begin(), given.end(), declared.begin(), declared.end(),
                      [](const Parameter& a, const Parameter& b) { return a.bytes == b.bytes; });
  };
  for (const Function& function : decoded_.functions) {
    for (const Instruction& instruction : function.code) {
      if (instruction.control != Control::call) continue;
      const Call& call = function.calls[instruction.target];
      if (call.callee == nullptr || (fits(call.arguments, call.callee->parameters) &&
                                     fits(call.results, call.callee->results))) {
        continue;
      }
      fail_at_line(function.statements[instruction.index].location.ptx_line,
                   "expected the arguments and results that " + call.name + " declares");
    }
  }
}

void KernelDecoder::find_places(Function& function) {
  using Place = std::array<std::uint32_t, 5>;
  std::map<Place, std::uint32_t> first;
  for (std::size_t i = 0; i < function.code.size(); ++i) {
    const Location& at = function.statements[i].location;
    const Place place = at.line == 0 ? Place{0, 0, 0, 0, at.ptx_line}
                                     : Place{at.file, at.line, at.inlined_file, at.inlined_line, 0};
    const auto index = static_cast<std::uint32_t>(function.first_counter + i);
    function.places.push_back(first.try_emplace(place, index).first->second);
  }
}

void KernelDecoder::count_instructions() {
  for (Function& function : decoded_.functions) {
    function.first_counter = decoded_.kernel.instruction_count;
    decoded_.kernel.instruction_count += function.code.size();
    find_places(function);
  }
}

/// Local memory of the deepest chain of calls: longest paths in the graph of calls, by relaxation.
/// A cycle is a recursion; then it is the sum over all functions.
void KernelDecoder::find_local_bytes() {
  Kernel& kernel = decoded_.kernel;
  std::map<const Function*, std::size_t> depth, bytes;
  for (const Function& function : decoded_.functions) {
    depth[&function] = 1;
    bytes[&function] = function.local_bytes;
  }
  bool changed = true;
  const auto include = [&](const Function& caller, const Function& callee) {
    changed |= depth[&caller] < depth[&callee] + 1;
    depth[&caller] = std::max(depth[&caller], depth[&callee] + 1);
    bytes[&caller] = std::max(bytes[&caller], caller.local_bytes + bytes[&callee]);
  };
  while (changed && !kernel.recursive) {
    changed = false;
    for (const Function& function : decoded_.functions) {
      for (const Call& call : function.calls) {
        if (call.callee != nullptr) include(function, *call.callee);
        if (call.address == kNoOffset) continue;
        for (const Function& callee : decoded_.functions) {
          if (!callee.is_kernel) include(function, callee);
        }
      }
      kernel.recursive |= depth[&function] > decoded_.functions.size();
    }
  }
  kernel.local_bytes = bytes[kernel.main];
  if (!kernel.recursive) return;
  kernel.local_bytes = 0;
  for (const Function& function : decoded_.functions) kernel.local_bytes += function.local_bytes;
}

}  // namespace halfgrad::emulator
