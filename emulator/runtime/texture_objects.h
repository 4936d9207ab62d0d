#pragma once

#include <halfgrad/emulator/memory/texture_table.h>

namespace halfgrad::emulator {

/// Texture and surface objects of all devices.
TextureTable& texture_table();

}  // namespace halfgrad::emulator
