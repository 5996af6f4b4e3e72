// Randomness is a value (R13): every draw is a pure function of where it is made. No generator
// state is kept, and neither the order of the work nor its batches and threads change a draw.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace riparian {

inline constexpr std::uint64_t golden = 0x9E3779B97F4A7C15;  // SplitMix64's increment

// The purpose of a key: the third word of every key of a tree.
enum Purpose : std::uint64_t {
    stream_draw = 0,
    leaf_draw = 1,
    weight_draw = 2,
    threshold_draw = 3,
    bound_draw = 5
};

// The second word of a key of the forest as a whole.
enum ForestPurpose : std::uint64_t { replacement_draw = 4 };

// The finaliser of SplitMix64.
constexpr std::uint64_t mix(std::uint64_t z) {
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EB;
    return z ^ (z >> 31);
}

constexpr std::uint64_t fold(std::uint64_t folded, std::uint64_t word) {
    return mix((folded ^ word) + golden);
}

template <class... Words>
constexpr std::uint64_t key(Words... words) {
    std::uint64_t folded = 0;
    ((folded = fold(folded, static_cast<std::uint64_t>(words))), ...);
    return folded;
}

// Returns a number in [0, 1) from the top 53 bits of a word.
constexpr double uniform(std::uint64_t bits) { return static_cast<double>(bits >> 11) * 0x1p-53; }

// Returns `yes` if the value is above the bound, else `no`, without a branch. SSE2 makes a mask in
// the register of the value; moving it to another register would take twice as long.
inline double if_above(double value, double bound, double yes, double no) {
#if defined(__SSE2__)
    const __m128d above = _mm_cmpgt_sd(_mm_set_sd(value), _mm_set_sd(bound));
    return _mm_cvtsd_f64(
        _mm_or_pd(_mm_and_pd(above, _mm_set_sd(yes)), _mm_andnot_pd(above, _mm_set_sd(no))));
#else
    const std::uint64_t above = 0 - std::uint64_t{value > bound};
    return std::bit_cast<double>((std::bit_cast<std::uint64_t>(yes) & above) |
                                 (std::bit_cast<std::uint64_t>(no) & ~above));
#endif
}

// λ in the form that the Poisson draw needs. The exponentials come from Python, so that both
// engines use the exp of the same library.
struct Rate {
    std::uint64_t whole = 0;  // floor(λ)
    double exp_one = 1.0;     // exp(-1)
    double exp_rest = 1.0;    // exp(-(λ - floor(λ)))
};

// A SplitMix64 sequence: the successive draws of one leaf.
class Draws {
public:
    explicit constexpr Draws(std::uint64_t start) : state_(start) {}

    constexpr double next() {
        state_ += golden;
        return uniform(mix(state_));
    }

    // Makes a draw whose outcome does not matter.
    constexpr void skip() { state_ += golden; }

    // Returns a whole number from 0 to n-1.
    constexpr std::uint64_t below(std::uint64_t n) {
        return static_cast<std::uint64_t>(next() * static_cast<double>(n));
    }

    // R2: exp(-λ) underflows for a large λ, so add up draws at rate 1 and one at the rest.
    std::uint64_t poisson(const Rate& rate) {
        const std::uint64_t at_one = knuth(rate.exp_one, rate.whole);
        return at_one + knuth(rate.exp_rest, 1);
    }

    // R16: returns a standard Gaussian, by the ratio of two uniforms. The logarithm only decides
    // whether a pair is taken, so its last bit, which may differ between machines, does not affect
    // the result.
    double gaussian() {
        for (;;) {
            const double u = 1.0 - next();
            const double x = gaussian_width * (2.0 * next() - 1.0) / u;
            if (x * x <= -4.0 * std::log(u)) return x;
        }
    }

private:
    static constexpr double gaussian_width = 0.8577638849607068;  // sqrt(2 / e)

    // Returns the sum of several draws at one rate. Each draw takes one uniform more than it
    // counts. The end of a draw cannot be predicted, so there is no branch on it, and the product
    // continues before the end is known.
    std::uint64_t knuth(double limit, std::uint64_t draws) {
        if (draws == 0) return 0;
        double product = next();
        for (std::uint64_t left = draws, uniforms = 1;; ++uniforms) {
            const std::uint64_t ends = !(product > limit);
            left -= ends;
            if (left == 0) return uniforms - draws;
            const double u = next();
            product = if_above(product, limit, product * u, u);
        }
    }

    std::uint64_t state_;
};

// The number of candidates that a leaf draws: 1 + Poisson(λ) (R2), or a fixed number (R18).
class HowMany {
public:
    explicit HowMany(const Rate& rate) : rate_(rate) {}
    explicit HowMany(std::uint64_t exactly) : exactly_(exactly) {}

    std::uint64_t draw(Draws& draws) const {
        return exactly_ ? exactly_ : 1 + draws.poisson(rate_);
    }

private:
    Rate rate_;                  // λ
    std::uint64_t exactly_ = 0;  // or, if not 0, this fixed number
};

}  // namespace riparian
