#include <halfgrad/compat/utilities.h>

#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <stdexcept>
#include <typeinfo>
#include <utility>

#include <halfgrad/compat/any_module.h>
#include <halfgrad/core/fail.h>
#include <halfgrad/nn/embedding.h>

namespace halfgrad::detail {
namespace {

void print(std::ostream& out, const nn::Module& module, const std::string& indent) {
  const bool is_layer = typeid(module) != typeid(nn::Module) &&
                        nn::detail::readable(typeid(module)).starts_with("halfgrad::nn::");
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
  const auto children = module.named_children();
  if (children.is_empty()) {
    std::ostringstream text;
    module.pretty_print(text);
    // A class without options prints its name alone.
    const bool is_bare = !is_layer && text.str() == module.name() + "()";
    out << (is_bare ? module.name() : text.str());
    return;
  }
  out << module.name() << '(' << module.extra() << '\n';
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
