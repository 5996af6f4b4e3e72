// How the answers of a forest of numbers follow the last known target (R29).
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "target/numbers/statistics.hpp"

namespace riparian {

// Targets near a point, moved with the answer to it.
struct Moved {
    double plain = 0.0, answer = 0.0;  // what the trees answer, and what the forest does
    double spread = 1.0;

    Number operator()(Number target) const { return answer + spread * (target - plain); }
};

// What the last learned point adds to the answers that follow.
struct Correction {
    Number target = 0.0;
    double answer = 0.0;                           // of the trees, before they learned it
    double error_share = 0.0, target_share = 0.0;  // φ and ψ
    double spread = 1.0;                           // of errors, compared with those of the trees

    double of(double plain) const {
        return plain + error_share * (target - answer) + target_share * (target - plain);
    }
    Moved around(double plain) const { return {plain, of(plain), spread}; }
};

class NumberFollowing {
public:
    using State = std::vector<double>;  // the sums; then the pairs, the oldest first

    // Answers are for the point that comes `lag` points after the last learned one; 0: they do not
    // follow. The memory is taken now, so that no point can fail for lack of it.
    explicit NumberFollowing(std::uint64_t lag) : lag_(lag) { pairs_.reserve(lag); }

    bool on() const { return lag_ > 0; }
    const Correction& correction() const { return correction_; }
    void correct(double* answer) const { *answer = correction_.of(*answer); }
    std::size_t bytes() const { return pairs_.capacity() * sizeof(Pair); }

    // A point is about to be learned, given what the trees answer.
    void judge(Number target, double answer) {
        if (pairs_.size() == lag_) {
            add(pairs_[oldest_], target, answer);
            pairs_[oldest_] = {target, answer};
            oldest_ = (oldest_ + 1) % lag_;
        } else
            pairs_.push_back({target, answer});
        fit();
    }

    State state() const {
        if (!on()) return {};
        State state(sums_.begin(), sums_.end());
        for (std::size_t i = 0; i < pairs_.size(); ++i) {
            const Pair& pair = pairs_[(oldest_ + i) % pairs_.size()];
            state.insert(state.end(), {pair.target, pair.answer});
        }
        return state;
    }
    void restore(const State& state) {
        if (!on()) return;
        std::copy_n(state.begin(), sums_.size(), sums_.begin());
        pairs_.clear();
        for (std::size_t i = sums_.size(); i + 1 < state.size(); i += 2)
            pairs_.push_back({state[i], state[i + 1]});
        oldest_ = 0;
        fit();
    }

    static constexpr std::size_t n_sums = 7;

private:
    struct Pair {
        Number target;
        double answer;
    };
    static constexpr double fading = 0.999;
    static constexpr double caution = 10.0;  // points that say that errors do not last

    // What was known `lag` points ago, and what came of it.
    void add(const Pair& known, Number target, double answer) {
        const double error = target - answer;
        const double x1 = known.target - known.answer, x2 = known.target - answer;
        const std::array<double, n_sums> products{x1 * x1,    x1 * x2,       x2 * x2, x1 * error,
                                                  x2 * error, error * error, 1.0};
        for (std::size_t i = 0; i < n_sums; ++i) sums_[i] = fading * sums_[i] + products[i];
    }

    // The least squares of the errors by x1 and x2.
    void fit() {
        const Pair& last =
            pairs_.empty() ? none : pairs_[(oldest_ + pairs_.size() - 1) % pairs_.size()];
        correction_ = {last.target, last.answer};
        const auto [x1x1, x1x2, x2x2, x1e, x2e, ee, n] = sums_;
        if (!(n > 0.0)) return;
        const double more = 1.0 + caution / n;
        const double a = x1x1 * more;
        const double q = a > 0.0 ? x1x2 / a : 0.0;
        const double d = x2x2 * more - x1x2 * q;
        const double psi = d > 0.0 ? std::clamp((x2e - x1e * q) / d, 0.0, 1.0) : 0.0;
        const double phi = a > 0.0 ? std::clamp((x1e - x1x2 * psi) / a, 0.0, 1.0) : 0.0;
        // What these leave of the squared errors of the trees.
        const double gained = 2.0 * (phi * x1e + psi * x2e);
        const double spent = phi * phi * x1x1 + 2.0 * (phi * psi * x1x2) + psi * psi * x2x2;
        const double left = ee - gained + spent;
        correction_.error_share = phi;
        correction_.target_share = psi;
        if (left > 0.0 && ee > 0.0) correction_.spread = std::min(1.0, std::sqrt(left / ee));
    }

    static constexpr Pair none{0.0, 0.0};

    std::size_t lag_;
    std::vector<Pair> pairs_;  // of the last `lag` points, in a ring
    std::size_t oldest_ = 0;
    std::array<double, n_sums> sums_{};
    Correction correction_;
};

}  // namespace riparian
