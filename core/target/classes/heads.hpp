// Answers from cells of several sizes, and which of them a forest trusts (R25).
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "drift/log_exp.hpp"
#include "memory/pool.hpp"
#include "state_fields.hpp"
#include "target/classes/histogram.hpp"
#include "target/classes/labels.hpp"
#include "target/heads.hpp"

namespace riparian {

// The share of a class in a node, in units of 2^-28, half to even.
inline std::int64_t share_of(std::uint64_t count, std::uint64_t total) {
    return static_cast<std::int64_t>(
        std::rint(static_cast<double>(count) / static_cast<double>(total) * head_share));
}

// T_j of a forest, and the weights that follow from it. Nothing that a tree learns depends on it.
class ClassHeadTrust {
public:
    ClassHeadTrust() { weigh(); }

    // A point: for each head the shares of its class, summed over the trees that do not abstain.
    // The weights follow with `weigh`.
    void judge(const std::int64_t* sums, std::int64_t voters) {
        if (voters == 0) return;
        for (std::size_t j = 0; j < n_heads; ++j)
            evidence_[j] = faded(evidence_[j], static_cast<double>(sums[j]) /
                                                   (static_cast<double>(voters) * head_share));
    }

    // softmax(T) in units of 2^-12. The head of the largest T takes what is left of the whole.
    void weigh() {
        const auto best = std::max_element(evidence_.begin(), evidence_.end());
        PerHead<double> exponentials;
        double sum = 0.0;
        for (std::size_t j = 0; j < n_heads; ++j)
            sum += exponentials[j] = exp_of_negative(evidence_[j] - *best);
        std::int64_t left = whole_weight;
        for (std::size_t j = 0; j < n_heads; ++j) {
            const double share = exponentials[j] / sum * static_cast<double>(whole_weight);
            weights_[j] = static_cast<std::int64_t>(std::rint(share));
            left -= weights_[j];
        }
        weights_[static_cast<std::size_t>(best - evidence_.begin())] += left;
    }

    const PerHead<std::int64_t>& weights() const { return weights_; }
    const PerHead<double>& evidence() const { return evidence_; }
    void restore(const PerHead<double>& evidence) {
        evidence_ = evidence;
        weigh();
    }

    static constexpr std::int64_t whole_weight = 1 << 12;

private:
    PerHead<double> evidence_{};  // T_j
    PerHead<std::int64_t> weights_{};
};

// What a leaf answers: the mixture of its heads, in units of 2^-40 without rounding again.
class ClassHeads {
public:
    using Trust = ClassHeadTrust;

    ClassHeads(const PerHead<const EstimationHistogram*>& heads, const Trust& trust)
        : heads_(heads), weights_(trust.weights()) {}

    // Units of 2^-28.
    static std::int64_t share(const EstimationHistogram& node, Class y) {
        return share_of(node[y], node.total());
    }

    std::uint64_t total() const { return heads_[0]->total(); }  // 0: it abstains
    void prefetch() const { heads_[0]->prefetch(); }

    void add_shares(std::int64_t* sums) const {
        std::int64_t weight = 0;
        for (std::size_t j = 0; j < n_heads; ++j) {
            weight += weights_[j];
            if (j + 1 < n_heads && heads_[j + 1] == heads_[j]) continue;  // the same node answers
            if (weight != 0) add(*heads_[j], weight, sums);
            weight = 0;
        }
    }

    // The class with the largest share, ties to the smallest rank.
    Class argmax(const std::vector<std::uint32_t>& rank) const {
        std::vector<std::int64_t> shares(rank.size());
        add_shares(shares.data());
        Class best = 0;
        for (Class y = 1; y < shares.size(); ++y)
            if (shares[y] > shares[best] || (shares[y] == shares[best] && rank[y] < rank[best]))
                best = y;
        return best;
    }

    // The histograms of inner nodes, which no other forest has.
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
    static void add(const EstimationHistogram& node, std::int64_t weight, std::int64_t* sums) {
        for (Class y = 0; y < node.size(); ++y) sums[y] += weight * share(node, y);
    }

    PerHead<const EstimationHistogram*> heads_;
    const PerHead<std::int64_t>& weights_;
};

}  // namespace riparian
