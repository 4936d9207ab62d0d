#include <stdexcept>
#include <string>
#include <typeinfo>
#include <utility>

#include <halfgrad/core/error.h>
#include <halfgrad/nn/module.h>

namespace halfgrad::nn {
namespace {

/// An error with the module that threw it (`innermost`) and its path below `outermost`.
template <class Standard>
class ErrorInModule : public halfgrad::detail::Raised<Standard> {
 public:
  ErrorInModule(const Module& module, const std::string& message)
      : ErrorInModule::Raised(message), outermost_(module), innermost_(module), message_(message) {}

  const Module& outermost() const { return outermost_; }

  /// Returns this error with the path from `module`, which called the outermost module so far.
  /// Keeps the old path if that module is not registered below `module`.
  ErrorInModule seen_from(const Module& module) const {
    for (const auto& [path, below] : module.named_modules()) {
      if (!below->is_same(outermost_)) continue;
      return {module, path_.empty() ? path : path + "." + path_, innermost_, message_};
    }
    return *this;
  }

 private:
  ErrorInModule(const Module& outermost, std::string path, const Module& innermost,
                const std::string& message)
      : ErrorInModule::Raised(outermost.name() + "." + path + " (" + innermost.name() +
                              "): " + message),
        outermost_(outermost),
        innermost_(innermost),
        path_(std::move(path)),
        message_(message) {}

  Module outermost_, innermost_;
  std::string path_;  // dotted, from outermost_ to innermost_
  std::string message_;
};

template <class Standard>
[[noreturn]] void rethrow(const Module& module, const Standard& error) {
  if (const auto* known = dynamic_cast<const ErrorInModule<Standard>*>(&error)) {
    if (known->outermost().is_same(module)) throw;
    throw known->seen_from(module);
  }
  using Raised = halfgrad::detail::Raised<Standard>;
  const bool derived = typeid(error) != typeid(Standard) && typeid(error) != typeid(Raised);
  if (derived) throw;  // a caller may catch it by its type
  throw ErrorInModule<Standard>(module, error.what());
}

}  // namespace

void detail::rethrow_from(const Module& module) {
  try {
    throw;
  } catch (const std::invalid_argument& error) {
    rethrow(module, error);
  } catch (const std::out_of_range& error) {
    rethrow(module, error);
  }
}

}  // namespace halfgrad::nn
