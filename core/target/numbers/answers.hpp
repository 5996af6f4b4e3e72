// What trees of numbers answer, how their answers add up to one, and which heads a forest trusts
// (R26).
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "state_fields.hpp"
#include "target/heads.hpp"
#include "target/numbers/memories.hpp"
#include "target/numbers/scale.hpp"
#include "target/numbers/statistics.hpp"

namespace riparian {

enum class Averaging { average };

inline constexpr std::int64_t whole_unit = std::int64_t{1} << 40;

// The mean of a node, in units of 2^-40·B.
class NumberAnswer {
public:
    NumberAnswer(const NumberStatistics& node, std::uint64_t scale) : node_(&node), scale_(scale) {}

    std::uint64_t total() const { return node_->total(); }
    std::uint64_t scale() const { return scale_; }
    std::int64_t units() const { return Scale(scale_).units(node_->mean(), 40); }
    void prefetch() const {}

private:
    const NumberStatistics* node_;
    std::uint64_t scale_;
};

// The answer that a sum of shares stands for, in units of 2^-40·B.
inline double mean_of(std::int64_t sum, std::int64_t voters, std::uint64_t scale) {
    return Scale(scale).number(static_cast<double>(sum) / static_cast<double>(voters * whole_unit));
}

// T_j of a forest, and σ².
template <class Kinds>
class NumberTrust : public HeadTrust<Kinds> {
public:
    // T, and the discounted sum and number of the smallest squared errors.
    using State = std::array<double, Kinds::count + 2>;

    // A point: for each head the shares of all trees that do not abstain, in units of 2^-28·B.
    void judge(const std::int64_t* sums, std::int64_t voters, Number z, std::uint64_t scale) {
        if (voters == 0) return;
        PerHead<Kinds, double> squared;
        for (std::size_t j = 0; j < Kinds::count; ++j) {
            const double mean =
                static_cast<double>(sums[j]) / (static_cast<double>(voters) * head_share);
            const double error = z - Scale(scale).number(mean);
            squared[j] = error * error;
        }
        errors_ = Kinds::fading * errors_ + *std::min_element(squared.begin(), squared.end());
        judged_ = Kinds::fading * judged_ + 1.0;
        const double twice = 2.0 * (errors_ / judged_);
        for (std::size_t j = 0; j < Kinds::count; ++j) {
            const double loss = squared[j] == 0.0 ? 0.0 : std::min(squared[j] / twice, most_loss);
            evidence_[j] = Kinds::fading * evidence_[j] - loss;
        }
    }

    // What the trees answer to such a point, by the weights that were computed last.
    double answer(const std::int64_t* sums, std::int64_t voters, std::uint64_t scale) const {
        std::int64_t mixture = 0;
        for (std::size_t j = 0; j < Kinds::count; ++j) mixture += this->weights()[j] * sums[j];
        return mean_of(mixture, voters, scale);
    }

    // The root of the mean squared error, recent ones first; 0 before the first point.
    double error() const { return judged_ > 0.0 ? std::sqrt(errors_ / judged_) : 0.0; }

    State state() const {
        State state;
        std::copy(evidence_.begin(), evidence_.end(), state.begin());
        state[Kinds::count] = errors_;
        state[Kinds::count + 1] = judged_;
        return state;
    }
    void restore(const State& state) {
        std::copy_n(state.begin(), Kinds::count, evidence_.begin());
        errors_ = state[Kinds::count];
        judged_ = state[Kinds::count + 1];
        this->weigh();
    }

private:
    using HeadTrust<Kinds>::evidence_;
    static constexpr double most_loss = 1000.0;  // where σ² is tiny, or 0

    double errors_ = 0.0, judged_ = 0.0;
};

// What a leaf answers: the mixture of its heads, in units of 2^-40·B without rounding again.
template <class Kinds>
class NumberHeads {
public:
    using Trust = NumberTrust<Kinds>;
    static constexpr bool remembers = Kinds::count > n_sizes;

    // The nodes of the heads by size; and the memories of the leaf, if it has any.
    NumberHeads(const PerSize<const NumberStatistics*>& nodes, const NumberMemories* memories,
                const Trust& trust, std::uint64_t scale)
        : nodes_(nodes),
          memories_(memories && !memories->empty() ? memories : nullptr),
          weights_(trust.weights()),
          scale_(scale) {}

    // What each head says, whatever the target of the point is, in units of 2^-28·B.
    PerHead<Kinds, std::int64_t> shares(Number) const {
        PerHead<Kinds, std::int64_t> shares;
        for_each_share([&](std::size_t j, std::int64_t share) { shares[j] = share; });
        return shares;
    }
    // s_j of a tree, after a point.
    static double faded_score(double score, std::int64_t share, Number z, std::uint64_t scale) {
        const double its = error(share, z, scale);
        return score_fading * score - its * its;
    }
    static double error(std::int64_t share, Number z, std::uint64_t scale) {
        return z - Scale(scale).number(static_cast<double>(share) / head_share);
    }

    std::uint64_t total() const { return nodes_[0]->total(); }  // 0: it abstains
    std::uint64_t scale() const { return scale_; }
    void prefetch() const {}

    std::int64_t units() const {
        std::int64_t sum = 0;
        for_each_share([&](std::size_t j, std::int64_t share) { sum += weights_[j] * share; });
        return sum;
    }

    // The share of head j joins row j.
    void add_each(std::int64_t* rows, std::size_t width) const {
        for_each_share([=](std::size_t j, std::int64_t share) { rows[j * width] += share; });
    }

    // The sums of inner nodes, which no other forest has.
    template <class State>
    static void save(const NumberStatistics& inner, State& out) {
        array<"inner_weight">(out).push_back(inner.total());
        array<"inner_sum">(out).push_back(inner.sum());
    }
    struct InnerReader {
        riparian::Reader<Long> total;
        riparian::Reader<double> sum;

        template <class State>
        explicit InnerReader(const State& in)
            : total(array<"inner_weight">(in)), sum(array<"inner_sum">(in)) {}
        void restore(Pool&, NumberStatistics& node) {
            const Long n = total.one();
            node = {n, sum.one(), 0.0};  // no answer asks for the squares
        }
    };

private:
    // A leaf without memories answers from the smallest cell in place of them.
    template <class Visitor>
    void for_each_share(Visitor&& visitor) const {
        const Scale scale(scale_);
        const std::int64_t first = scale.units(nodes_[0]->mean(), 28);
        std::int64_t its = first;
        for (std::size_t j = 0; j < n_sizes; ++j) {
            if (j > 0 && nodes_[j] != nodes_[j - 1]) its = scale.units(nodes_[j]->mean(), 28);
            visitor(j, its);
        }
        if constexpr (remembers)
            for (std::size_t j = 0; j < n_memories; ++j)
                visitor(n_sizes + j, memories_ ? scale.units(memories_->mean(j), 28) : first);
    }

    PerSize<const NumberStatistics*> nodes_;
    const NumberMemories* memories_;  // none: it has none
    PerHead<Kinds, std::int64_t> weights_;
    std::uint64_t scale_;
};

// How the answers of trees add up. A row has the sum of the answers, the trees that did not
// abstain, and the sum of their scales, which are all the same: so an answer needs nothing besides
// its row.
class NumberOrder {
public:
    using TreeAnswer = double;

    std::size_t outputs() const { return 1; }
    std::size_t row_width() const { return 4; }
    std::uint32_t voters(const std::int64_t* row) const {
        return static_cast<std::uint32_t>(row[1]);
    }

    template <class Answer>
    void add(const Answer& answer, Averaging, std::int64_t* row) const {
        if (answer.total() == 0) return;
        row[0] += answer.units();
        join(answer, row);
    }

    // The answers of all heads of a tree, in a row per head; then their mixture, in the first.
    template <class Heads>
    void add_heads(const Heads& heads, std::int64_t* rows) const {
        if (heads.total() == 0) return;
        heads.add_each(rows, row_width());
        join(heads, rows);
    }
    template <class Weights>
    void mix_heads(const Weights& weights, std::int64_t* rows) const {
        std::int64_t mixture = 0;
        for (std::size_t j = 0; j < weights.size(); ++j)
            mixture += weights[j] * rows[j * row_width()];
        rows[0] = mixture;
    }

    void write_sums(const std::int64_t* row, std::int64_t* out) const { *out = row[0]; }
    // The mean, less the first target of the stream; 0 if all trees abstain.
    void write(const std::int64_t* row, double* out) const {
        const auto n = static_cast<std::int64_t>(voters(row));
        if (n == 0) {
            *out = 0.0;
            return;
        }
        *out = row[2] == is_known ? std::bit_cast<double>(row[3])
                                  : mean_of(row[0], n, static_cast<std::uint64_t>(row[2] / n));
    }
    // The answer of a row of sums, where it does not follow from them alone (R29).
    void set(double answer, std::int64_t* row) const {
        row[2] = is_known;
        row[3] = std::bit_cast<std::int64_t>(answer);
    }

    // NaN if the tree abstains.
    template <class Answer>
    TreeAnswer tree_answer(const Answer& answer) const {
        if (answer.total() == 0) return std::numeric_limits<double>::quiet_NaN();
        return Scale(answer.scale())
            .number(static_cast<double>(answer.units()) / static_cast<double>(whole_unit));
    }

private:
    static constexpr std::int64_t is_known = -1;  // in place of scales, which are at least 0

    template <class Answer>
    static void join(const Answer& answer, std::int64_t* row) {
        ++row[1];
        row[2] += static_cast<std::int64_t>(answer.scale());
    }
};

}  // namespace riparian
