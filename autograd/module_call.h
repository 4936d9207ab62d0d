#pragma once

/// The modules whose forward() this thread runs, for observers. The graph knows modules by address
/// only: nn is built on autograd.
namespace halfgrad::detail {

class ModuleCall;

/// The innermost call of this thread, or nullptr.
inline thread_local constinit const ModuleCall* module_call = nullptr;

/// One call of a module, from construction to the end of the scope. It must be a local variable.
class ModuleCall {
 public:
  [[nodiscard]] explicit ModuleCall(const void* module) : module_(module), outer_(module_call) {
    module_call = this;
  }
  ~ModuleCall() { module_call = outer_; }
  ModuleCall(const ModuleCall&) = delete;
  ModuleCall& operator=(const ModuleCall&) = delete;

  const void* module() const { return module_; }  ///< nn::Module::identity()
  const ModuleCall* outer() const { return outer_; }

 private:
  const void* module_;
  const ModuleCall* outer_;
};

}  // namespace halfgrad::detail
