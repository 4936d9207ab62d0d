#include <halfgrad/compat/utilities.h>

#include <typeinfo>

#include <halfgrad/compat/any_module.h>
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
