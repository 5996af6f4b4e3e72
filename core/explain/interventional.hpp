// TreeSHAP against a background: an unknown feature takes its values from other rows.
//
// For a row x, a row r of the background and a leaf, v(S) is V if every feature in S passes the
// tests of the path with its value in x, and every other feature with its value in r. Let a
// features pass with x alone and b with r alone. If some feature passes with neither, the leaf
// cannot be reached. Then φ = V (a-1)! b! / (a+b)! for the a features, and -V a! (b-1)! / (a+b)!
// for the b.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "explain/kinds.hpp"
#include "explain/paths.hpp"

namespace riparian::explain {

class Interventional {
public:
    explicit Interventional(const Tile& background)
        : background_(background), total_(background.total()) {}

    // times[i][kind] is φ of step i for a leaf of value 1.
    void solve(const Path& path, const Kinds& kinds, double* times) {
        const std::size_t length = path.size();
        others_.read(path, background_);
        reach(length);
        std::fill_n(times, length * kinds.size(), 0.0);
        for (std::size_t kind = 0; kind < kinds.size(); ++kind) {
            const Bits* failed = kinds.failed(kind);
            const std::size_t b = kinds.n_failed(kind);
            double of_failed = 0.0;
            for (std::size_t other = 0; other < others_.size(); ++other) {
                if (meet(failed, others_.failed(other), kinds.words())) continue;
                const std::size_t a = others_.n_failed(other);
                const double share = others_.count(other) / total_;
                if (b) of_failed -= share * weight(b, a);
                if (a == 0) continue;
                const double of_passed = share * weight(a, b);
                for_each_bit(others_.failed(other), kinds.words(),
                             [&](std::size_t i) { times[i * kinds.size() + kind] += of_passed; });
            }
            for_each_bit(failed, kinds.words(),
                         [&](std::size_t i) { times[i * kinds.size() + kind] = of_failed; });
        }
    }

private:
    static bool meet(const Bits* a, const Bits* b, std::size_t words) {
        Bits both = 0;
        for (std::size_t w = 0; w < words; ++w) both |= a[w] & b[w];
        return both != 0;
    }

    // (a-1)! b! / (a+b)!, for a >= 1.
    double weight(std::size_t a, std::size_t b) const {
        if (a + b < side_) return weights_[a * side_ + b];
        const auto p = static_cast<double>(a), q = static_cast<double>(b);
        return std::exp(std::lgamma(p) + std::lgamma(q + 1.0) - std::lgamma(p + q + 1.0));
    }

    // Makes a table for paths of this length, unless they are too long for a table.
    void reach(std::size_t length) {
        const std::size_t side = std::min<std::size_t>(length, 128) + 1;
        if (side <= side_) return;
        side_ = side;
        weights_.assign(side * side, 0.0);
        for (std::size_t a = 1; a < side; ++a) {
            double weight = 1.0 / static_cast<double>(a);  // (a-1)! 0! / a!
            for (std::size_t b = 0; a + b < side; ++b) {
                weights_[a * side + b] = weight;
                weight *= static_cast<double>(b + 1) / static_cast<double>(a + b + 1);
            }
        }
    }

    const Tile& background_;
    double total_;  // its weight
    Kinds others_;
    std::vector<double> weights_;
    std::size_t side_ = 0;  // of the table
};

}  // namespace riparian::explain
