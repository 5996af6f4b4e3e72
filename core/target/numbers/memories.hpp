// What a leaf remembers of its last targets, several times over: weights and sums that fade at
// different rates (R27).
#pragma once

#include <cmath>
#include <cstddef>

#include "counts/streams.hpp"
#include "kernels/hot.hpp"
#include "memory/pool.hpp"
#include "state_fields.hpp"
#include "target/heads.hpp"
#include "target/numbers/statistics.hpp"

namespace riparian {

// n and Σz of one leaf, per memory; it is all in the record of the leaf, nothing in the pool.
class NumberMemories {
public:
    bool empty() const { return weights_[0] == 0.0; }

    // Every memory fades by its factor, then the point is added.
    RIPARIAN_HOT void add(Pool&, Number z, Weight n) {
        const auto weight = static_cast<double>(n);
        const double weighted = weight * z;
        for (std::size_t j = 0; j < n_memories; ++j) {
            const double faded = sums_[j] * memory_factors<double>[j];
            weights_[j] = weights_[j] * memory_factors<double>[j] + weight;
            // The smallest numbers are slow, and would stay.
            sums_[j] = (std::fabs(faded) < nothing ? 0.0 : faded) + weighted;
        }
    }

    double mean(std::size_t j) const { return sums_[j] / weights_[j]; }

    void release(Pool&) { *this = {}; }
    void move_to(Pool&) {}
    template <class Known>
    static std::size_t charge(const Known&) {
        return 0;
    }

    template <class State>
    void save(State& out) const {
        append(array<"memory_weight">(out), weights_.data(), n_memories);
        append(array<"memory_sum">(out), sums_.data(), n_memories);
    }
    class Reader {
    public:
        template <class State>
        explicit Reader(const State& in)
            : weights_(array<"memory_weight">(in)), sums_(array<"memory_sum">(in)) {}
        void restore(Pool&, NumberMemories& memories) {
            for (double& weight : memories.weights_) weight = weights_.one();
            for (double& sum : memories.sums_) sum = sums_.one();
        }

    private:
        riparian::Reader<double> weights_, sums_;
    };

private:
    static constexpr double nothing = 0x1p-1000;

    PerMemory<double> weights_{}, sums_{};
};

}  // namespace riparian
