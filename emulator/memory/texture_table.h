#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <shared_mutex>

#include <halfgrad/emulator/checks/operation_order.h>
#include <halfgrad/emulator/memory/texture.h>

namespace halfgrad::emulator {

/// A texture or surface object. It is kept after its end, because kernels that were launched before
/// may still run.
struct TextureObject {
  Texture texture;  ///< sampling of a texture object
  Image surface;    ///< image of a surface object
  bool is_surface = false;
  OperationId ended = 0;  ///< operations after this one may not use it; 0: none ended it
};

/// Texture and surface objects by the 64-bit handles that kernels receive. Thread-safe.
class TextureTable {
 public:
  std::uint64_t add(Texture texture);
  std::uint64_t add_surface(const Image& surface);
  /// Ends an object for the operations after `operation`. Returns false if there is none.
  bool end(std::uint64_t handle, bool is_surface, OperationId operation);
  /// The object, which may have ended, or nullptr. The pointer stays valid.
  const TextureObject* find(std::uint64_t handle) const;

 private:
  std::uint64_t keep(std::unique_ptr<TextureObject> object);

  mutable std::shared_mutex mutex_;
  std::map<std::uint64_t, std::unique_ptr<TextureObject>> objects_;
  std::uint64_t next_ = 0x7e0000000001;  ///< unlike an index or an address
};

}  // namespace halfgrad::emulator
