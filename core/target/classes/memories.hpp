// What a leaf remembers of its estimation points, several times over: histograms that fade at
// different rates (R23). And how far a tree trusts each, by how well it has predicted the tree's
// structure points.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "counts/streams.hpp"
#include "drift/log_exp.hpp"
#include "kernels/hot.hpp"
#include "memory/pool.hpp"
#include "state_fields.hpp"
#include "target/classes/histogram.hpp"
#include "target/classes/labels.hpp"

namespace riparian {

inline constexpr std::size_t most_memories = 8;

// One number per memory.
using PerMemory = std::array<double, most_memories>;

// The memories F_j of one leaf: for each class, a number per memory. Classes past the end have
// none.
class ClassMemories {
public:
    // Every memory fades by its factor, then the point is added to its class.
    void add(Pool& pool, const std::vector<float>& factors, Class y, Weight n) {
        const std::size_t width = factors.size();
        if (y >= classes_) [[unlikely]]
            make_room(pool, width, y + 1);
        for (std::size_t i = 0; i < classes_ * width; i += width)
            for (std::size_t j = 0; j < width; ++j) {
                const float faded = values_[i + j] * factors[j];
                // What is as good as nothing is nothing: the smallest numbers are slow, and would
                // stay.
                values_[i + j] = faded < nothing ? 0.0f : faded;
            }
        for (std::size_t j = 0; j < width; ++j) values_[y * width + j] += static_cast<float>(n);
    }

    // ΣF_j, class by class.
    PerMemory sums(std::size_t width) const {
        PerMemory sums{};
        for (std::size_t i = 0; i < classes_ * width; i += width)
            for (std::size_t j = 0; j < width; ++j) sums[j] += static_cast<double>(values_[i + j]);
        return sums;
    }

    double value(std::size_t width, Class y, std::size_t j) const {
        return y < classes_ ? static_cast<double>(values_[y * width + j]) : 0.0;
    }
    Class classes() const { return classes_; }
    const float* values() const { return values_; }
    void prefetch(std::size_t width) const { riparian::prefetch(values_, bytes(width, classes_)); }

    static std::size_t bytes(std::size_t width, std::size_t n_classes) {
        return n_classes * width * sizeof(float);
    }
    void release(Pool& pool, std::size_t width) {
        if (classes_) pool.release(values_, bytes(width, classes_));
        *this = {};
    }
    void move_to(Pool& pool, std::size_t width) {
        if (!classes_) return;
        auto* moved = pool.allocate_array<float>(classes_ * width);
        std::copy_n(values_, classes_ * width, moved);
        values_ = moved;
    }

    template <class State>
    void save(State& out, std::size_t width) const {
        append(array<"memory">(out), static_cast<const float*>(values_), classes_ * width);
    }
    struct Reader {
        riparian::Reader<float> memory;

        template <class State>
        explicit Reader(const State& in) : memory(array<"memory">(in)) {}
    };
    // Of a leaf with this histogram: memories are as long.
    void restore(Pool& pool, std::size_t width, Reader& in, const EstimationHistogram& leaf) {
        const auto classes = static_cast<Class>(leaf.size());
        const float* values = in.memory.many(classes * width);
        if (!classes) return;
        make_room(pool, width, classes);
        std::copy_n(values, classes * width, values_);
    }

private:
    static constexpr float nothing = 0x1p-60f;

    void make_room(Pool& pool, std::size_t width, Class classes) {
        auto* wider = pool.allocate_array<float>(classes * width);
        std::copy_n(values_, classes_ * width, wider);
        std::fill(wider + classes_ * width, wider + classes * width, 0.0f);
        if (classes_) pool.release(values_, bytes(width, classes_));
        values_ = wider;
        classes_ = classes;
    }

    float* values_ = nullptr;
    Class classes_ = 0;
};

// L_j and w_j of a tree.
class MemoryAnswer;

class ClassTrust {
public:
    explicit ClassTrust(std::size_t memories) : memories_(memories) { weigh(); }

    std::size_t memories() const { return memories_; }

    // What a leaf says about a point before anything is learned of it.
    struct Test {
        double error = 0;  // 1 less the probability of its class
        PerMemory sums{};  // of the leaf's memories
    };
    Test test(const ClassMemories& leaf, Class y, Class n_classes) const {
        const PerMemory sums = leaf.sums(memories_);
        return {1.0 - probability(leaf, sums, y, n_classes), sums};
    }

    // A structure point of class y was tested in the leaf.
    void judge(const ClassMemories& leaf, const Test& test, Class y, Class n_classes,
               double fading) {
        const double most = 0.1 * static_cast<double>(n_classes);
        for (std::size_t j = 0; j < memories_; ++j) {
            const double share = (leaf.value(memories_, y, j) + 0.1) / (test.sums[j] + most);
            evidence_[j] = fading * evidence_[j] + ln(share);
        }
        weigh();
    }

    // All that predicting may see of a leaf.
    MemoryAnswer answer(const ClassMemories& leaf, const EstimationHistogram& votes) const;

    template <class State>
    void save(State& out) const {
        append(array<"evidence">(out), evidence_.data(), memories_);
    }
    template <class State>
    void restore(const State& in) {
        std::copy_n(array<"evidence">(in).data(), memories_, evidence_.begin());
        weigh();
    }

    // w_j / ΣF_j: what a point that a memory holds adds to the probability of its class.
    PerMemory scales(const PerMemory& sums) const {
        PerMemory scales{};
        for (std::size_t j = 0; j < memories_; ++j) scales[j] = weights_[j] / sums[j];
        return scales;
    }

private:
    // q[y]; every class alike where nothing is remembered.
    double probability(const ClassMemories& leaf, const PerMemory& sums, Class y,
                       Class n_classes) const {
        double q = 0;
        if (leaf.classes() == 0) {
            for (std::size_t j = 0; j < memories_; ++j)
                q += weights_[j] * (1.0 / static_cast<double>(n_classes));
            return q;
        }
        const PerMemory scale = scales(sums);
        for (std::size_t j = 0; j < memories_; ++j) q += scale[j] * leaf.value(memories_, y, j);
        return q;
    }

    // softmax(L)
    void weigh() {
        double most = evidence_[0], sum = 0;
        for (std::size_t j = 1; j < memories_; ++j) most = std::max(most, evidence_[j]);
        for (std::size_t j = 0; j < memories_; ++j) {
            weights_[j] = exp_of_negative(evidence_[j] - most);
            sum += weights_[j];
        }
        for (std::size_t j = 0; j < memories_; ++j) weights_[j] /= sum;
    }

    std::size_t memories_;
    PerMemory evidence_{}, weights_{};
};

// What a leaf with memories answers (R11): a share for each class.
class MemoryAnswer {
public:
    MemoryAnswer(const ClassMemories& leaf, const ClassTrust& trust, std::uint64_t total)
        : leaf_(leaf), trust_(trust), total_(total) {}

    std::uint64_t total() const { return total_; }  // 0: it abstains
    void prefetch() const { leaf_.prefetch(trust_.memories()); }

    void add_shares(std::int64_t* sums) const {
        for_each([&](Class y, std::int64_t share) { sums[y] += share; });
    }

    // The class with the largest share, ties to the smallest rank.
    Class argmax(const std::vector<std::uint32_t>& rank) const {
        Class best = 0;
        std::int64_t most = -1;
        for_each([&](Class y, std::int64_t share) {
            if (share > most || (share == most && rank[y] < rank[best])) {
                best = y;
                most = share;
            }
        });
        return best;
    }

private:
    template <class Visitor>
    void for_each(Visitor&& visitor) const {
        const std::size_t width = trust_.memories();
        const PerMemory scale = trust_.scales(leaf_.sums(width));
        const float* values = leaf_.values();
        for (Class y = 0; y < leaf_.classes(); ++y, values += width) {
            double q = 0;
            for (std::size_t j = 0; j < width; ++j) q += scale[j] * static_cast<double>(values[j]);
            visitor(y, static_cast<std::int64_t>(
                           std::rint(q * static_cast<double>(std::int64_t{1} << 40))));
        }
    }

    const ClassMemories& leaf_;
    const ClassTrust& trust_;
    std::uint64_t total_;
};

inline MemoryAnswer ClassTrust::answer(const ClassMemories& leaf,
                                       const EstimationHistogram& votes) const {
    return {leaf, *this, votes.total()};
}

}  // namespace riparian
