#include <algorithm>
#include <memory>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include <halfgrad/core/fail.h>
#include <halfgrad/nn/module.h>

namespace halfgrad::nn {
namespace {

void append_names(std::string& text, const char* what, const std::vector<std::string>& names) {
  constexpr std::size_t kMostNames = 20, kMostBytes = 200;  // the names may come from any file
  if (names.empty()) return;
  text += std::string("\n  ") + what + ":";
  for (std::size_t i = 0; i < std::min(names.size(), kMostNames); ++i) {
    const std::string& name = names[i];
    text += " \"" + name.substr(0, kMostBytes) + (name.size() > kMostBytes ? "...\"" : "\"");
  }
  if (names.size() > kMostNames) {
    text += " and " + std::to_string(names.size() - kMostNames) + " more";
  }
}

}  // namespace

IncompatibleKeys Module::load_state_dict(const StateDict& state, LoadStateDictOptions options) {
  const StateDict own = state_dict();
  std::unordered_set<std::shared_ptr<Storage>> own_storages;
  for (const auto& [name, target] : own) own_storages.insert(target.array().storage());
  IncompatibleKeys keys;
  std::string mismatches;
  std::vector<std::pair<Array, Array>>
      copies;  // made before any copy_, so an error changes nothing
  for (const auto& [name, target] : own) {
    const Tensor* source = state.find(name);
    if (source == nullptr || !source->defined()) {
      keys.missing_keys.push_back(name);
    } else if (source->sizes() != target.sizes()) {
      mismatches += "\n  size mismatch for \"" + name + "\": expected " +
                    to_string(target.sizes()) + ", got " + to_string(source->sizes());
    } else {
      Array converted = source->array().to(target.device()).to(target.dtype());
      // A view of another own tensor is cloned: loading that one overwrites it.
      const bool is_itself =
          converted.data() == target.array().data() && converted.strides() == target.strides();
      if (!is_itself && own_storages.contains(converted.storage())) converted = converted.clone();
      copies.emplace_back(target.array(), std::move(converted));
    }
  }
  for (const auto& [name, tensor] : state) {
    if (!own.contains(name)) keys.unexpected_keys.push_back(name);
  }

  std::string errors;
  if (options.strict) {
    append_names(errors, "missing", keys.missing_keys);
    append_names(errors, "unexpected", keys.unexpected_keys);
  }
  errors += mismatches;
  if (!errors.empty()) {
    halfgrad::detail::fail("load_state_dict", "expected the state of this {}, got{}", name(),
                           errors);
  }
  for (const auto& [target, source] : copies) {
    target.copy_(source);
    target.storage()->bump_version();
  }
  return keys;
}

}  // namespace halfgrad::nn
