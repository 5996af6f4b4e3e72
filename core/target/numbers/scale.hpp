// The scale of a stream of numbers (R26): answers are whole multiples of a part of B, so that sums
// over trees do not depend on their order.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>

namespace riparian {

// B = 2^(k - 900), the smallest such power that is at least every |z| so far. It is given by k, so
// that scales can be compared, and added.
class Scale {
public:
    static constexpr std::uint64_t most = 900 + 501;  // |z| is at most 2^501

    // k of a single number.
    static std::uint64_t of(double z) {
        const std::uint64_t bits = std::bit_cast<std::uint64_t>(std::abs(z));
        const std::uint64_t fraction = bits & ((std::uint64_t{1} << 52) - 1);
        const auto exponent = static_cast<std::int64_t>(bits >> 52) - 1023 + (fraction != 0);
        return static_cast<std::uint64_t>(std::max<std::int64_t>(exponent + 900, 0));
    }

    explicit Scale(std::uint64_t k) : exponent_(static_cast<std::int64_t>(k) - 900) {}

    // A number in units of 2^-bits·B, half to even. The mean of a node is at most B, up to
    // rounding.
    std::int64_t units(double number, int bits) const {
        const double most_units = power(bits);
        const double units = std::rint(number * power(bits - exponent_));
        if (!(units > -most_units)) return -(std::int64_t{1} << bits);
        return units < most_units ? static_cast<std::int64_t>(units) : std::int64_t{1} << bits;
    }

    // The number that is this many times B.
    double number(double units) const { return units * power(exponent_); }

private:
    static double power(std::int64_t exponent) {
        return std::bit_cast<double>(static_cast<std::uint64_t>(1023 + exponent) << 52);
    }

    std::int64_t exponent_;
};

}  // namespace riparian
