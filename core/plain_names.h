#pragma once

/// HALFGRAD_PLAIN_NAME(SGDOptions, SGDArguments) gives a plain struct its usual name, with which a
/// program may name the type of `{.lr = 0.1}`. In a program for libtorch the usual name belongs to
/// the builder of compat/, as in `SGDOptions(0.1).momentum(0.9)`. The struct is then SGDArguments
/// only. HALFGRAD_HAS_PLAIN_NAMES tells compat/names.h that it was included too late.
#if defined(HALFGRAD_COMPAT)
#define HALFGRAD_PLAIN_NAME(name, type)
#else
#define HALFGRAD_HAS_PLAIN_NAMES
#define HALFGRAD_PLAIN_NAME(name, type) using name = type;  // NOLINT(bugprone-macro-parentheses)
#endif
