// Several doubles side by side, with the same operations in every instruction set, and so the same
// bits. For kernels.cpp alone.
#pragma once

#include <cstddef>
#include <cstdint>

#include <string.h>

#if defined(__AVX2__)
#include <immintrin.h>
#endif

namespace riparian {
namespace {

#if defined(__AVX512F__)
struct Doubles {
    using Mask = __mmask8;
    static constexpr std::size_t width = 8;

    __m512d at;

    static Doubles all(double x) { return {_mm512_set1_pd(x)}; }
    static Doubles load(const double* from) { return {_mm512_loadu_pd(from)}; }
    void store(double* to) const { _mm512_storeu_pd(to, at); }

    friend Doubles operator+(Doubles a, Doubles b) { return {_mm512_add_pd(a.at, b.at)}; }
    friend Doubles operator-(Doubles a, Doubles b) { return {_mm512_sub_pd(a.at, b.at)}; }
    friend Doubles operator*(Doubles a, Doubles b) { return {_mm512_mul_pd(a.at, b.at)}; }
    friend Doubles operator/(Doubles a, Doubles b) { return {_mm512_div_pd(a.at, b.at)}; }
    friend Mask operator<=(Doubles a, Doubles b) {
        return _mm512_cmp_pd_mask(a.at, b.at, _CMP_LE_OQ);
    }
    static Mask both(Mask a, Mask b) { return static_cast<Mask>(a & b); }

    // `x` is added where the mask says so. A sum that starts at 0 is never -0, so that to add 0
    // elsewhere changes nothing.
    void add_where(Mask where, Doubles x) { at = _mm512_mask_add_pd(at, where, at, x.at); }
    void replace_where(Mask where, Doubles x) { at = _mm512_mask_mov_pd(at, where, x.at); }
};
#elif defined(__AVX2__)
struct Doubles {
    using Mask = __m256d;
    static constexpr std::size_t width = 4;

    __m256d at;

    static Doubles all(double x) { return {_mm256_set1_pd(x)}; }
    static Doubles load(const double* from) { return {_mm256_loadu_pd(from)}; }
    void store(double* to) const { _mm256_storeu_pd(to, at); }

    friend Doubles operator+(Doubles a, Doubles b) { return {_mm256_add_pd(a.at, b.at)}; }
    friend Doubles operator-(Doubles a, Doubles b) { return {_mm256_sub_pd(a.at, b.at)}; }
    friend Doubles operator*(Doubles a, Doubles b) { return {_mm256_mul_pd(a.at, b.at)}; }
    friend Doubles operator/(Doubles a, Doubles b) { return {_mm256_div_pd(a.at, b.at)}; }
    friend Mask operator<=(Doubles a, Doubles b) { return _mm256_cmp_pd(a.at, b.at, _CMP_LE_OQ); }
    static Mask both(Mask a, Mask b) { return _mm256_and_pd(a, b); }

    void add_where(Mask where, Doubles x) { at = _mm256_add_pd(at, _mm256_and_pd(where, x.at)); }
    void replace_where(Mask where, Doubles x) { at = _mm256_blendv_pd(at, x.at, where); }
};
#else
inline std::uint64_t as_bits(double x) {
    std::uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}
inline double from_bits(std::uint64_t bits) {
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

// Two at a time is what any machine can do; masks are bits, so that there is no branch.
struct Doubles {
    struct Mask {
        std::uint64_t at[2];  // all bits, or none
    };
    static constexpr std::size_t width = 2;

    double at[2];

    static Doubles all(double x) { return {{x, x}}; }
    static Doubles load(const double* from) { return {{from[0], from[1]}}; }
    void store(double* to) const {
        to[0] = at[0];
        to[1] = at[1];
    }

    friend Doubles operator+(Doubles a, Doubles b) {
        return {{a.at[0] + b.at[0], a.at[1] + b.at[1]}};
    }
    friend Doubles operator-(Doubles a, Doubles b) {
        return {{a.at[0] - b.at[0], a.at[1] - b.at[1]}};
    }
    friend Doubles operator*(Doubles a, Doubles b) {
        return {{a.at[0] * b.at[0], a.at[1] * b.at[1]}};
    }
    friend Doubles operator/(Doubles a, Doubles b) {
        return {{a.at[0] / b.at[0], a.at[1] / b.at[1]}};
    }
    friend Mask operator<=(Doubles a, Doubles b) {
        return {{std::uint64_t{0} - (a.at[0] <= b.at[0]), std::uint64_t{0} - (a.at[1] <= b.at[1])}};
    }
    static Mask both(Mask a, Mask b) { return {{a.at[0] & b.at[0], a.at[1] & b.at[1]}}; }

    void add_where(Mask where, Doubles x) {
        for (std::size_t k = 0; k < width; ++k) at[k] += from_bits(as_bits(x.at[k]) & where.at[k]);
    }
    void replace_where(Mask where, Doubles x) {
        for (std::size_t k = 0; k < width; ++k)
            at[k] = from_bits((as_bits(x.at[k]) & where.at[k]) | (as_bits(at[k]) & ~where.at[k]));
    }
};
#endif

}  // namespace
}  // namespace riparian
