#pragma once

/// The first include of every header here: names such as SGDOptions then mean libtorch's builders
/// (core/plain_names.h), and item() without a type returns a Scalar.
#if defined(HALFGRAD_HAS_PLAIN_NAMES) && !defined(HALFGRAD_COMPAT)
#error "include <halfgrad/compat/torch.h> before every other header of halfgrad"
#endif
#ifndef HALFGRAD_COMPAT
#define HALFGRAD_COMPAT
#endif
