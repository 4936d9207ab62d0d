#include <stdexcept>
#include <string>
#include <typeinfo>
#include <utility>

#include <halfgrad/nn/module.h>

namespace halfgrad::nn {
namespace {

/// An error that knows in which module it arose, and by which path that is reached.
template <class Error>
class ErrorInModule : public Error {
 public:
  ErrorInModule(const Module& module, const std::string& message)
      : Error(message), outermost_(module), innermost_(module), message_(message) {}

  const Module& outermost() const { return outermost_; }

  /// The error as a module throws it that was running the outermost one so far. One that is not
  /// registered in it has no path there, and keeps its own.
  ErrorInModule seen_from(const Module& module) const {
    for (const auto& [path, below] : module.named_modules()) {
      if (!below.is_same(outermost_)) continue;
      return {module, path_.empty() ? path : path + "." + path_, innermost_, message_};
    }
    return *this;
  }

 private:
  ErrorInModule(const Module& outermost, std::string path, const Module& innermost,
                const std::string& message)
      : Error(outermost.name() + "." + path + " (" + innermost.name() + "): " + message),
        outermost_(outermost),
        innermost_(innermost),
        path_(std::move(path)),
        message_(message) {}

  Module outermost_, innermost_;
  std::string path_;  // from the outermost to the innermost
  std::string message_;
};

template <class Error>
[[noreturn]] void rethrow(const Module& module, const Error& error) {
  if (const auto* known = dynamic_cast<const ErrorInModule<Error>*>(&error)) {
    if (known->outermost().is_same(module)) throw;
    throw known->seen_from(module);
  }
  if (typeid(error) != typeid(Error)) throw;  // a class of the user's, who may be waiting for it
  throw ErrorInModule<Error>(module, error.what());
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
