#pragma once

#include <cstdio>
#include <cstdlib>

/// Ends the program with exit code 1 if the condition is false.
#define EXPECT(condition)                                                           \
  do {                                                                              \
    if (!(condition)) {                                                             \
      std::fprintf(stderr, "%s:%d: expected %s\n", __FILE__, __LINE__, #condition); \
      std::exit(1);                                                                 \
    }                                                                               \
  } while (false)

#define EXPECT_SUCCESS(call) EXPECT((call) == cudaSuccess)
