#pragma once

#include <string>

/// The pictures of chapter 1.

/// The bits of 0.1 in five formats: sign, exponent and fraction in different colours.
std::string draw_bits();

/// Every value of fp8 E4M3 from 0 to 2, and from 0 to 1/32 where its subnormal values are.
std::string draw_number_line();

/// The spacing of values over their magnitude, in fp32, bf16 and fp16.
std::string draw_spacing();
