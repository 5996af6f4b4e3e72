// R14: entropy sums in fixed point. Sums of integers do not depend on their order, so every way of
// evaluating a gain gives the same bits.
#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <limits>

namespace riparian {

inline constexpr double entropy_scale = 0x1p20;

// F(n) = n·log2(n)·2^20, rounded half to even; the one implementation for both engines. It fits 64
// bits up to n = 2^37, more structure points than a leaf sees between two draws in practice. Beyond,
// F stays at the largest value, and sums, being unsigned here, wrap: in both engines alike.
inline std::int64_t entropy_term_exact(std::uint64_t n) {
    if (n < 2) return 0;
    if (n > std::uint64_t{1} << 37) return std::numeric_limits<std::int64_t>::max();
    const double x = static_cast<double>(n);
    return static_cast<std::int64_t>(std::nearbyint(x * std::log2(x) * entropy_scale));
}

class EntropyTable {
public:
    std::uint64_t operator()(std::uint64_t n) const {
        if (n < terms_.size()) [[likely]]
            return terms_[n];
        return static_cast<std::uint64_t>(entropy_term_exact(n));
    }

    static const EntropyTable& get() {
        static const EntropyTable table;
        return table;
    }

private:
    EntropyTable() {
        for (std::size_t n = 0; n < terms_.size(); ++n)
            terms_[n] = static_cast<std::uint64_t>(entropy_term_exact(n));
    }

    std::array<std::uint64_t, 4096> terms_;
};

// The gain in bits of a candidate that has seen `points` structure points, from its G (R14).
inline double gain(std::uint64_t g, std::uint64_t points) {
    return static_cast<double>(static_cast<std::int64_t>(g)) /
           (static_cast<double>(points) * entropy_scale);
}

}  // namespace riparian
