#pragma once

/// The first include of every header here that uses layers, optimizers or data loaders: names such
/// as SGDOptions then mean libtorch's builders (core/plain_names.h).
#if defined(HALFGRAD_HAS_PLAIN_NAMES) && !defined(HALFGRAD_COMPAT)
#error "include <halfgrad/compat/torch.h> before, or instead of, <halfgrad/halfgrad.h>"
#endif
#ifndef HALFGRAD_COMPAT
#define HALFGRAD_COMPAT
#endif
