#pragma once

#if __cplusplus < 202002L
#error "halfgrad: expected a C++20 compiler: use g++ 12, clang 14 or newer, with -std=c++20"
#endif
