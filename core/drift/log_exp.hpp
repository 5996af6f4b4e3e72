// Logarithm and exponential of this project: libraries differ in the last bit, and forests must not
// (R27). They use only additions, multiplications and divisions of float64, in a fixed order, and
// are within 1e-15 of the exact value.
#pragma once

#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>

namespace riparian {

inline constexpr double ln2 = 0x1.62e42fefa39efp-1;

namespace detail {

// ln 2 in two parts. The first has so few bits that its product with an exponent is exact.
inline constexpr double ln2_high = 0x1.62e42fee00000p-1, ln2_low = 0x1.a39ef35793c76p-33;

template <std::size_t N>
constexpr double polynomial(double x, const std::array<double, N>& coefficients) {
    double sum = coefficients[N - 1];
    for (std::size_t i = N - 1; i-- > 0;) sum = sum * x + coefficients[i];
    return sum;
}

// 1, 1/3, 1/5, ...
template <std::size_t N>
constexpr std::array<double, N> odd_reciprocals() {
    std::array<double, N> all{};
    for (std::size_t i = 0; i < N; ++i) all[i] = 1.0 / static_cast<double>(2 * i + 1);
    return all;
}

// 1/1!, 1/2!, 1/3!, ...
template <std::size_t N>
constexpr std::array<double, N> factorial_reciprocals() {
    std::array<double, N> all{};
    double factorial = 1.0;
    for (std::size_t i = 0; i < N; ++i) {
        factorial *= static_cast<double>(i + 1);
        all[i] = 1.0 / factorial;
    }
    return all;
}

}  // namespace detail

// Returns ln x of a normal number above 0: x = m·2^e with m around 1, and ln m = 2 artanh((m - 1) /
// (m + 1)).
inline double ln(double x) {
    constexpr std::uint64_t half = 0x3FE6A09E667F3BCD;  // sqrt(1/2)
    const std::uint64_t bits = std::bit_cast<std::uint64_t>(x) - half;
    const auto exponent = static_cast<std::int64_t>(bits) >> 52;
    const double m = std::bit_cast<double>((bits & 0xFFFFFFFFFFFFF) + half);
    const double s = (m - 1.0) / (m + 1.0);
    static constexpr auto series = detail::odd_reciprocals<12>();
    const double rest = 2.0 * s * detail::polynomial(s * s, series);
    const auto e = static_cast<double>(exponent);
    return e * detail::ln2_high + (rest + e * detail::ln2_low);
}

// Returns e^x of a number that is not above 0, or 0 where e^x is below 2^-1000.
inline double exp_of_negative(double x) {
    if (!(x > -693.0)) return 0.0;
    const double k = std::rint(x * 0x1.71547652b82fep+0);  // 1 / ln 2
    const double r = (x - k * detail::ln2_high) - k * detail::ln2_low;
    static constexpr auto series = detail::factorial_reciprocals<14>();
    const double power = 1.0 + r * detail::polynomial(r, series);
    const auto exponent = static_cast<std::uint64_t>(1023 + static_cast<std::int64_t>(k));
    return power * std::bit_cast<double>(exponent << 52);
}

}  // namespace riparian
