// How many bits of a word are set.
#pragma once

#include <cstdint>

#if defined(__AVX2__)
#include <immintrin.h>
#endif

namespace riparian {
namespace {

inline std::uint32_t bits_of(std::uint64_t word) {
#if defined(__POPCNT__) || (defined(__GNUC__) && !defined(__x86_64__))
    return static_cast<std::uint32_t>(__builtin_popcountll(word));
#elif defined(__AVX2__) && defined(_M_X64)
    return static_cast<std::uint32_t>(_mm_popcnt_u64(word));
#else  // the compiler would call a function
    word -= word >> 1 & 0x5555555555555555;
    word = (word & 0x3333333333333333) + (word >> 2 & 0x3333333333333333);
    word = (word + (word >> 4)) & 0x0F0F0F0F0F0F0F0F;
    return static_cast<std::uint32_t>(word * 0x0101010101010101 >> 56);
#endif
}

}  // namespace
}  // namespace riparian
