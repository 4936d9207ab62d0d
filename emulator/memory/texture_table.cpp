#include <halfgrad/emulator/memory/texture_table.h>

#include <mutex>
#include <utility>

namespace halfgrad::emulator {

std::uint64_t TextureTable::keep(std::unique_ptr<TextureObject> object) {
  const std::unique_lock lock(mutex_);
  const std::uint64_t handle = next_++;
  objects_.emplace(handle, std::move(object));
  return handle;
}

std::uint64_t TextureTable::add(Texture texture) {
  auto object = std::make_unique<TextureObject>();
  object->texture = std::move(texture);
  return keep(std::move(object));
}

std::uint64_t TextureTable::add_surface(const Image& surface) {
  auto object = std::make_unique<TextureObject>();
  object->surface = surface;
  object->is_surface = true;
  return keep(std::move(object));
}

bool TextureTable::end(std::uint64_t handle, bool is_surface, OperationId operation) {
  const std::unique_lock lock(mutex_);
  const auto found = objects_.find(handle);
  if (found == objects_.end() || found->second->is_surface != is_surface) return false;
  if (found->second->ended != 0) return false;
  found->second->ended = operation;
  return true;
}

const TextureObject* TextureTable::find(std::uint64_t handle) const {
  const std::shared_lock lock(mutex_);
  const auto found = objects_.find(handle);
  return found == objects_.end() ? nullptr : found->second.get();
}

}  // namespace halfgrad::emulator
