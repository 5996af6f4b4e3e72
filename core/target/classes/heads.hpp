// Answers from cells of several sizes and from memories, and which of them a forest trusts (R25,
// R27).
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

#include "memory/pool.hpp"
#include "state_fields.hpp"
#include "target/classes/histogram.hpp"
#include "target/classes/labels.hpp"
#include "target/classes/memories.hpp"
#include "target/heads.hpp"

namespace riparian {

// Returns the share of a class in a node, in units of 2^-28, half to even. Many cells are pure, and
// a division takes longer than checking that.
inline std::int64_t share_of(std::uint64_t count, std::uint64_t total) {
    if (count == 0 || count == total) return count == 0 ? 0 : std::int64_t{1} << 28;
    // Rounds by an addition, which is exact below 2^51: on the oldest processors, `rint` would be a
    // function call.
    const double share = static_cast<double>(count) / static_cast<double>(total) * head_share;
    return static_cast<std::int64_t>((share + 0x1.8p52) - 0x1.8p52);
}

// T_j of a forest.
template <class Kinds>
class ClassHeadTrust : public HeadTrust<Kinds> {
public:
    using State = PerHead<Kinds, double>;

    // Judges a point: for each head the shares of its class, summed over the trees that do not
    // abstain. `weigh` computes the weights.
    void judge(const std::int64_t* sums, std::int64_t voters, Class, Class) {
        if (voters == 0) return;
        for (std::size_t j = 0; j < Kinds::count; ++j)
            this->evidence_[j] =
                faded(Kinds::fading, this->evidence_[j],
                      static_cast<double>(sums[j]) / (static_cast<double>(voters) * head_share));
    }

    State state() const { return this->evidence_; }
    void restore(const State& state) {
        this->evidence_ = state;
        this->weigh();
    }
};

// Errors of trees, which lie between 0 and 1 and need no scale.
struct ClassErrors {
    static double scaled(double error) { return error; }
    template <class State>
    static void save(State&) {}
    template <class State>
    static void restore(const State&) {}
};

// The answer of a leaf: the mixture of its heads, in units of 2^-40, which is not rounded again.
template <class Kinds>
class ClassHeads {
public:
    using Trust = ClassHeadTrust<Kinds>;
    static constexpr bool remembers = Kinds::count > n_sizes;

    // The nodes of the heads by size, and the memories of the leaf, if it has any.
    ClassHeads(const PerSize<const EstimationHistogram*>& nodes, const ClassMemories* memories,
               const Trust& trust, Class)
        : nodes_(nodes),
          memories_(memories && !memories->empty() ? memories : nullptr),
          weights_(trust.weights()) {}

    // The share of a class according to each head, in units of 2^-28. A leaf without memories
    // answers from the smallest cell instead.
    PerHead<Kinds, std::int64_t> shares(Class y) const {
        PerHead<Kinds, std::int64_t> shares;
        for (std::size_t j = 0; j < n_sizes; ++j)
            shares[j] = j > 0 && nodes_[j] == nodes_[j - 1] ? shares[j - 1] : share(*nodes_[j], y);
        if constexpr (remembers) {
            const PerMemory<double> sums = memories_ ? memories_->sums() : PerMemory<double>{};
            for (std::size_t j = 0; j < n_memories; ++j)
                shares[n_sizes + j] = memories_ ? memories_->share(y, j, sums[j]) : shares[0];
        }
        return shares;
    }
    // Updates s_j of a tree after a point.
    static double faded_score(double score, std::int64_t share, Class, Class) {
        return faded(score_fading, score, static_cast<double>(share) / head_share);
    }

    static double error(std::int64_t share, Class, Class) {
        return 1.0 - static_cast<double>(share) / head_share;
    }

    std::uint64_t total() const { return nodes_[0]->total(); }  // 0 if it abstains
    void prefetch() const { nodes_[0]->prefetch(); }

    void add_shares(std::int64_t* sums) const {
        std::int64_t weight = 0;
        for (std::size_t j = 0; j < n_sizes; ++j) {
            weight += weights_[j];
            if (remembers && j == 0 && !memories_) weight += weight_of_memories();
            if (j + 1 < n_sizes && nodes_[j + 1] == nodes_[j]) continue;  // the same node answers
            if (weight != 0) nodes_[j]->add_mixed_shares(sums, weight);
            weight = 0;
        }
        if constexpr (remembers)
            if (memories_ && weight_of_memories() != 0)
                memories_->for_each_share([&](Class y, std::size_t j, std::int64_t share) {
                    sums[y] += weights_[n_sizes + j] * share;
                });
    }

    // Adds the shares of head j to row j, in units of 2^-28.
    void add_each(std::int64_t* rows, std::size_t width) const {
        for (std::size_t first = 0, last; first < n_sizes; first = last) {
            last = first + 1;
            while (last < n_sizes && nodes_[last] == nodes_[first]) ++last;
            nodes_[first]->for_each_class([&](Class y, std::uint64_t count, std::uint64_t total) {
                const std::int64_t its = share_of(count, total);
                for (std::size_t j = first; j < last; ++j) rows[j * width + y] += its;
                if (remembers && first == 0 && !memories_)
                    for (std::size_t j = n_sizes; j < Kinds::count; ++j) rows[j * width + y] += its;
            });
        }
        if constexpr (remembers)
            if (memories_)
                memories_->for_each_share([&](Class y, std::size_t j, std::int64_t its) {
                    rows[(n_sizes + j) * width + y] += its;
                });
    }

    // Returns the class with the largest share; ties go to the smallest rank.
    Class argmax(const std::vector<std::uint32_t>& rank) const {
        std::vector<std::int64_t> shares(rank.size());
        add_shares(shares.data());
        Class best = 0;
        for (Class y = 1; y < shares.size(); ++y)
            if (shares[y] > shares[best] || (shares[y] == shares[best] && rank[y] < rank[best]))
                best = y;
        return best;
    }

    // Saves the histograms of inner nodes, which only these forests have.
    template <class State>
    static void save(const EstimationHistogram& inner, State& out) {
        array<"inner_classes">(out).push_back(static_cast<Word>(inner.size()));
        for (Class y = 0; y < inner.size(); ++y) array<"inner_histogram">(out).push_back(inner[y]);
    }
    class InnerReader {
    public:
        template <class State>
        explicit InnerReader(const State& in)
            : classes_(array<"inner_classes">(in)), histogram_(array<"inner_histogram">(in)) {}
        void restore(Pool& pool, EstimationHistogram& inner) {
            const Word classes = classes_.one();
            inner.set(pool, histogram_.many(classes), classes);
        }

    private:
        Reader<Word> classes_;
        Reader<Long> histogram_;
    };

private:
    static std::int64_t share(const EstimationHistogram& node, Class y) {
        return share_of(node[y], node.total());
    }
    std::int64_t weight_of_memories() const {
        return std::accumulate(weights_.begin() + n_sizes, weights_.end(), std::int64_t{0});
    }

    PerSize<const EstimationHistogram*> nodes_;
    const ClassMemories* memories_;  // null if the leaf has none
    const PerHead<Kinds, std::int64_t>& weights_;
};

}  // namespace riparian
