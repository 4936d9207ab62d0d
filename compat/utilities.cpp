#include <halfgrad/compat/utilities.h>

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <stdexcept>
#include <typeinfo>
#include <utility>

#include <halfgrad/compat/any_module.h>
#include <halfgrad/compat/parameter_list.h>
#include <halfgrad/core/fail.h>
#include <halfgrad/nn/embedding.h>
#include <halfgrad/nn/multihead_attention.h>
#include <halfgrad/nn/norm.h>

namespace halfgrad::detail {

const char* libtorch_name(DType dtype) {
  switch (dtype) {
    case DType::f64:
      return "Double";
    case DType::f32:
      return "Float";
    case DType::f16:
      return "Half";
    case DType::bf16:
      return "BFloat16";
    case DType::i64:
      return "Long";
    case DType::i32:
      return "Int";
    case DType::u8:
      return "Byte";
    case DType::boolean:
      return "Bool";
    case DType::i16:
      return "Short";
    case DType::i8:
      return "Char";
  }
  fail<std::logic_error>("toString", "expected a dtype, got {}", static_cast<int>(dtype));
}

namespace {

bool is_norm(const nn::Module& module) {
  return module.as<nn::LayerNorm>() != nullptr || module.as<nn::GroupNorm>() != nullptr ||
         module.as<nn::BatchNorm1d>() != nullptr;
}

/// The options of a module as libtorch prints them, where they differ.
std::string extra_text(const nn::Module& module) {
  if (module.as<nn::MultiheadAttention>() != nullptr) return "";
  std::string text = module.extra();
  if (!is_norm(module)) return text;
  const std::size_t bias = text.find(", bias=");
  if (bias != std::string::npos)
    text.erase(bias, std::min(text.size(), text.find(',', bias + 1)) - bias);
  return text;
}

/// libtorch prints the classes of a Transformer, and not their holders.
std::string name_text(const nn::Module& module) {
  return module.name() + (module.name().starts_with("Transformer") ? "Impl" : "");
}

void print_parameters(std::ostream& out, const nn::Module& module) {
  out << module.name() << "(\n";
  for (const auto& [name, parameter] : module.named_parameters()) {
    out << '(' << name << "): Parameter containing: [" << libtorch_name(parameter.dtype())
        << " of size " << to_string(parameter.sizes()) << "]\n";
  }
  out << ')';
}

void print(std::ostream& out, const nn::Module& module, const std::string& indent) {
  const bool is_list = typeid(module) == typeid(nn::Module) && module.name() == "ModuleList";
  const bool is_layer =
      is_list || (typeid(module) != typeid(nn::Module) &&
                  nn::detail::readable(typeid(module)).starts_with("halfgrad::nn::"));
  if (is_layer) out << "torch::nn::";
  if (const auto* table = module.as<nn::Embedding>()) {
    out << "Embedding(num_embeddings=" << table->weight.size(0)
        << ", embedding_dim=" << table->weight.size(1);
    if (const auto padding = module.extra().find(", padding_idx"); padding != std::string::npos) {
      out << module.extra().substr(padding);
    }
    out << ')';
    return;
  }
  if (module.as<nn::ParameterList>() != nullptr || module.as<nn::ParameterDict>() != nullptr) {
    print_parameters(out, module);
    return;
  }
  const auto children = module.named_children();
  if (children.is_empty()) {
    if (is_norm(module)) {
      out << module.name() << '(' << extra_text(module) << ')';
      return;
    }
    std::ostringstream text;
    module.pretty_print(text);
    // A class without options prints its name alone.
    const bool is_bare = !is_layer && text.str() == module.name() + "()";
    out << (is_bare ? module.name() : text.str());
    return;
  }
  std::ostringstream own, usual;
  module.pretty_print(own);
  module.nn::Module::pretty_print(usual);
  if (own.str() == usual.str()) {
    out << name_text(module) << '(' << extra_text(module) << '\n';
  } else {
    out << own.str() << "(\n";
  }
  for (const auto& [name, child] : children) {
    out << indent << "  (" << name << "): ";
    print(out, *child, indent + "  ");
    out << '\n';
  }
  out << indent << ')';
}

}  // namespace

std::string libtorch_text(const nn::Module& module) {
  std::ostringstream out;
  print(out, module, "");
  return out.str();
}

}  // namespace halfgrad::detail

namespace halfgrad {

TempFile::~TempFile() {
  if (!name.empty()) std::remove(name.c_str());
}

TempFile make_tempfile(const std::string& prefix) {
  std::string name = (std::filesystem::temp_directory_path() / (prefix + "XXXXXX")).string();
  const int file = mkstemp(name.data());
  if (file < 0) {
    detail::fail<std::runtime_error>("make_tempfile", "expected to write \"{}\", got {}", name,
                                     std::strerror(errno));
  }
  close(file);
  return TempFile(std::move(name));
}

}  // namespace halfgrad
