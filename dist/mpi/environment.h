#pragma once

#include <memory>

namespace halfgrad::dist {

/// MPI in this process. It ends with the last owner of this object, at the earliest after main().
class MpiEnvironment {
 public:
  /// Starts MPI unless the program has. Throws CommunicationError after abandon().
  static std::shared_ptr<MpiEnvironment> get();

  ~MpiEnvironment();
  MpiEnvironment(const MpiEnvironment&) = delete;
  MpiEnvironment& operator=(const MpiEnvironment&) = delete;

  /// Says that a rank has failed. Nothing may call MPI from now on: memory of the messages under
  /// way may be gone, and MPI_Finalize would wait for the failed rank without end.
  void abandon() { abandoned_ = true; }

 private:
  MpiEnvironment();

  bool is_ours_ = false;
  bool abandoned_ = false;
};

/// Throws CommunicationError with MPI's text for `status`, unless it is MPI_SUCCESS.
void check_mpi(int status, const char* function);

}  // namespace halfgrad::dist
