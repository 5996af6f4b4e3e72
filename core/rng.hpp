// Randomness is a value (R13): every draw is a pure function of where it is made, so no generator
// state is kept, and the order of the work, its batches and its threads change no draw.
#pragma once

#include <cstdint>

namespace riparian {

inline constexpr std::uint64_t golden = 0x9E3779B97F4A7C15;  // SplitMix64's increment

// What a key is drawn for: the third word of every key of a tree.
enum Purpose : std::uint64_t { stream_draw = 0, leaf_draw = 1, weight_draw = 2 };

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
    constexpr std::uint64_t poisson(const Rate& rate) {
        std::uint64_t sum = 0;
        for (std::uint64_t i = 0; i < rate.whole; ++i) sum += knuth(rate.exp_one);
        return sum + knuth(rate.exp_rest);
    }

private:
    constexpr std::uint64_t knuth(double limit) {
        std::uint64_t count = 0;
        for (double product = next(); product > limit; product *= next()) ++count;
        return count;
    }

    std::uint64_t state_;
};

}  // namespace riparian
