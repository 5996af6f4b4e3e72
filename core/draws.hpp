// Randomness is a value (R13): every draw is a pure function of where it is made, so no generator
// state is kept, and the order of the work, its batches and its threads change no draw.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace riparian {

inline constexpr std::uint64_t golden = 0x9E3779B97F4A7C15;  // SplitMix64's increment

// What a key is drawn for: the third word of every key of a tree.
enum Purpose : std::uint64_t {
    stream_draw = 0,
    leaf_draw = 1,
    weight_draw = 2,
    threshold_draw = 3,
    bound_draw = 5
};

// And the second word of a key of the forest as a whole.
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

// A number in [0, 1) from the top 53 bits of a word.
constexpr double uniform(std::uint64_t bits) { return static_cast<double>(bits >> 11) * 0x1p-53; }

// `yes` if the value is above the bound, else `no`; without a branch. SSE2 has a mask where the
// value is; to have one elsewhere takes twice as long.
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

// λ as the Poisson draw needs it. The exponentials come from Python, so that one library's exp
// serves both engines.
struct Rate {
    std::uint64_t whole = 0;  // floor(λ)
    double exp_one = 1.0;     // exp(-1)
    double exp_rest = 1.0;    // exp(-(λ - floor(λ)))
};

// A SplitMix64 sequence: the draws of one leaf, one after the other.
class Draws {
public:
    explicit constexpr Draws(std::uint64_t start) : state_(start) {}

    constexpr double next() {
        state_ += golden;
        return uniform(mix(state_));
    }

    // A whole number from 0 to n-1.
    constexpr std::uint64_t below(std::uint64_t n) {
        return static_cast<std::uint64_t>(next() * static_cast<double>(n));
    }

    // R2: exp(-λ) underflows for a large λ, so add up draws at rate 1 and one at the rest.
    std::uint64_t poisson(const Rate& rate) {
        const std::uint64_t at_one = knuth(rate.exp_one, rate.whole);
        return at_one + knuth(rate.exp_rest, 1);
    }

    // R16: a standard Gaussian, by the ratio of two uniforms. The logarithm only decides whether a
    // pair is taken, so its last bit, which may differ between machines, is never seen.
    double gaussian() {
        for (;;) {
            const double u = 1.0 - next();
            const double x = gaussian_width * (2.0 * next() - 1.0) / u;
            if (x * x <= -4.0 * std::log(u)) return x;
        }
    }

private:
    static constexpr double gaussian_width = 0.8577638849607068;  // sqrt(2 / e)

    // The sum of several draws at one rate. Each takes one uniform more than it counts. Where one
    // ends cannot be guessed, so no branch asks for it, and the product goes on before that is
    // known.
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

// How many candidates a leaf draws: 1 + Poisson(λ) (R2), or always the same number (R18).
class HowMany {
public:
    explicit HowMany(const Rate& rate) : rate_(rate) {}
    explicit HowMany(std::uint64_t exactly) : exactly_(exactly) {}

    std::uint64_t draw(Draws& draws) const {
        return exactly_ ? exactly_ : 1 + draws.poisson(rate_);
    }

private:
    Rate rate_;                  // λ
    std::uint64_t exactly_ = 0;  // or, if not 0, this many
};

}  // namespace riparian
