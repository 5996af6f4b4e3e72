// R14: entropy sums in fixed point. Sums of integers do not depend on their order, so every way of
// evaluating a gain gives the same bits.
#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <limits>

namespace riparian {

inline constexpr double entropy_scale = 0x1p20;

// F(n) = n·log2(n)·2^20, rounded half to even. Both engines use this implementation. It fits 64
// bits up to n = 2^37, which is more structure points than a leaf sees between two draws in
// practice. Beyond that, F stays at its largest value and sums, which are unsigned here, wrap in
// the same way in both engines.
inline std::int64_t entropy_term_exact(std::uint64_t n) {
    if (n < 2) return 0;
    if (n > std::uint64_t{1} << 37) return std::numeric_limits<std::int64_t>::max();
    const double x = static_cast<double>(n);
    return static_cast<std::int64_t>(std::nearbyint(x * std::log2(x) * entropy_scale));
}

class EntropyTable {
public:
    static constexpr std::size_t size = 4096;

    std::uint64_t operator()(std::uint64_t n) const {
        if (n < terms_.size()) [[likely]]
            return terms_[n];
        return static_cast<std::uint64_t>(entropy_term_exact(n));
    }

    // F(n), n < size.
    const std::uint64_t* terms() const { return terms_.data(); }
    // F(n) - F(n-1), 0 < n < size.
    const std::uint64_t* last_steps() const { return steps_.data(); }
    // Both for few points, n < `few`. If there are no more points in all, no sum of G needs more
    // than 31 bits.
    static constexpr std::size_t few = 64;
    const std::uint32_t* few_terms() const { return few_terms_.data(); }
    const std::uint32_t* few_steps() const { return few_steps_.data(); }

    static const EntropyTable& get() {
        static const EntropyTable table;
        return table;
    }

private:
    EntropyTable() {
        for (std::size_t n = 0; n < terms_.size(); ++n)
            terms_[n] = static_cast<std::uint64_t>(entropy_term_exact(n));
        for (std::size_t n = 1; n < steps_.size(); ++n) steps_[n] = terms_[n] - terms_[n - 1];
        for (std::size_t n = 0; n < few; ++n) {
            few_terms_[n] = static_cast<std::uint32_t>(terms_[n]);
            few_steps_[n] = static_cast<std::uint32_t>(steps_[n]);
        }
    }

    std::array<std::uint64_t, size> terms_;
    std::array<std::uint64_t, size> steps_{};
    std::array<std::uint32_t, few> few_terms_, few_steps_;
};

// F(left) + F(n - left) for all n up to a bound, one row per n: what the n points of a class, or
// all n points, add to G if `left` of them are on the left.
class SideTerms {
public:
    static constexpr std::size_t most = 256;

    const std::uint64_t* data() const { return terms_.data(); }
    // The same cut to 32 bits, and readable up to 64 terms of each row.
    const std::uint32_t* cut() const { return cut_.data(); }
    static constexpr std::uint32_t row(std::uint64_t n) {
        return static_cast<std::uint32_t>(n * (n + 1) / 2);
    }

    static const SideTerms& get() {
        static const SideTerms table;
        return table;
    }

private:
    SideTerms() {
        const auto& F = EntropyTable::get();
        for (std::size_t n = 0; n <= most; ++n)
            for (std::size_t left = 0; left <= n; ++left)
                terms_[row(n) + left] = F(left) + F(n - left);
        for (std::size_t i = 0; i < terms_.size(); ++i)
            cut_[i] = static_cast<std::uint32_t>(terms_[i]);
    }

    std::array<std::uint64_t, (most + 1) * (most + 2) / 2> terms_;
    std::array<std::uint32_t, (most + 1) * (most + 2) / 2 + 64> cut_{};
};

// Up to this many points, candidates that have seen the same points and have different G have
// different gains: the divisor is the same, and G has fewer digits than a float64.
inline constexpr std::uint64_t most_points_exact = std::uint64_t{1} << 24;

// Returns the gain in bits of a candidate that has seen `points` structure points, from its G
// (R14).
inline double gain(std::uint64_t g, std::uint64_t points) {
    return static_cast<double>(static_cast<std::int64_t>(g)) /
           (static_cast<double>(points) * entropy_scale);
}

// Returns the smallest G of gains above `min_gain`, or a little less: a smaller G needs no
// division. It holds only if no sum can have wrapped.
inline constexpr std::uint64_t most_points_unwrapped = std::uint64_t{1} << 32;
inline double least_g_of_point(double min_gain) { return min_gain * (1 - 0x1p-40) * entropy_scale; }
inline std::int64_t least_g(double min_gain, std::uint64_t points) {
    const double g = least_g_of_point(min_gain) * static_cast<double>(points);
    return g < 0x1p62 ? static_cast<std::int64_t>(g) : std::int64_t{1} << 62;
}

}  // namespace riparian
