#pragma once

#include <halfgrad/emulator/ptx/encoder.h>

namespace halfgrad::emulator {

// Decode functions of the pages in this folder, each for all opcodes of its page.
void integer_arithmetic(Encoder& encoder);
void integer_products(Encoder& encoder);
void packed_integers(Encoder& encoder);
void extended_precision(Encoder& encoder);
void float_arithmetic(Encoder& encoder);
void float_minimum_maximum(Encoder& encoder);
void float_sign(Encoder& encoder);
void copy_sign(Encoder& encoder);
void half_arithmetic(Encoder& encoder);
void half_minimum_maximum(Encoder& encoder);
void half_sign(Encoder& encoder);
void special_functions(Encoder& encoder);

void comparison(Encoder& encoder);
void selection(Encoder& encoder);
void test_property(Encoder& encoder);

void logic(Encoder& encoder);
void lookup_logic(Encoder& encoder);
void shift(Encoder& encoder);
void funnel_shift(Encoder& encoder);
void bit_fields(Encoder& encoder);
void bit_counts(Encoder& encoder);
void byte_permutation(Encoder& encoder);
void dot_product(Encoder& encoder);
void video(Encoder& encoder);

void move(Encoder& encoder);
void address_conversion(Encoder& encoder);
void address_test(Encoder& encoder);
void conversion(Encoder& encoder);
void packing_conversion(Encoder& encoder);

}  // namespace halfgrad::emulator
