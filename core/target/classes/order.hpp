// The public order of the classes, and how the answers of trees become probabilities in it (R11).
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "kernels/kernels.hpp"
#include "target/classes/labels.hpp"

namespace riparian {

enum class Voting { average, majority };

class ClassOrder {
public:
    using TreeAnswer = std::int64_t;

    ClassOrder() = default;
    // `rank[k]` is the place of class k, for each class that has arrived, among `n_classes`
    // classes, some of which may not have arrived yet.
    ClassOrder(std::vector<std::uint32_t> rank, std::size_t n_classes)
        : rank_(std::move(rank)), n_classes_(n_classes) {}

    // The number of values in the answer of a forest.
    std::size_t outputs() const { return n_classes_; }

    // The length of a row of sums: a number per class that has arrived, the number of trees that
    // did not abstain, and padding up to a multiple of four.
    std::size_t row_width() const { return rank_.size() / 4 * 4 + 4; }
    std::uint32_t voters(const std::int64_t* row) const {
        return static_cast<std::uint32_t>(row[rank_.size()]);
    }

    // Adds the answer of one tree to the row, unless it abstains.
    template <class Answer>
    void add(const Answer& answer, Voting voting, std::int64_t* row) const {
        if (answer.total() == 0) return;
        if (voting == Voting::average)
            answer.add_shares(row);
        else
            row[answer.argmax(rank_)] += whole_share;
        ++row[rank_.size()];
    }

    // Adds the answers of all heads of a tree (R25), one row per head.
    template <class Heads>
    void add_heads(const Heads& heads, std::int64_t* rows) const {
        if (heads.total() == 0) return;
        heads.add_each(rows, row_width());
        ++rows[rank_.size()];
    }
    // Combines the sums of these rows in the first one: the mixture by weights in units of 2^-12.
    template <class Weights>
    void mix_heads(const Weights& weights, std::int64_t* rows) const {
        for (std::size_t k = 0; k < rank_.size(); ++k) {
            std::int64_t mixture = 0;
            for (std::size_t j = 0; j < weights.size(); ++j)
                mixture += weights[j] * rows[j * row_width() + k];
            rows[k] = mixture;
        }
    }

    // Returns a row in the public order, as it is.
    void write_sums(const std::int64_t* row, std::int64_t* out) const {
        std::fill_n(out, n_classes_, 0);
        for (std::size_t k = 0; k < rank_.size(); ++k) out[rank_[k]] = row[k];
    }
    // Returns it divided: probabilities. If all trees abstain, they are the same for every class.
    void write(const std::int64_t* row, double* out) const {
        const std::uint32_t n = voters(row);
        std::fill_n(out, n_classes_, n ? 0.0 : 1.0 / static_cast<double>(n_classes_));
        if (n == 0) return;
        const auto whole = static_cast<double>(n * whole_share);
        for (std::size_t k = 0; k < rank_.size(); ++k)
            out[rank_[k]] = static_cast<double>(row[k]) / whole;
    }

    // Returns the class of one tree in the public order, -1 if it abstains.
    template <class Answer>
    TreeAnswer tree_answer(const Answer& answer) const {
        return answer.total() ? std::int64_t{rank_[answer.argmax(rank_)]} : -1;
    }
    // Whether the answer of a tree that does not abstain is wrong.
    template <class Answer>
    bool misses(const Answer& answer, Class y) const {
        return answer.argmax(rank_) != y;
    }

private:
    std::vector<std::uint32_t> rank_;  // one per class that has arrived
    std::size_t n_classes_ = 0;
};

}  // namespace riparian
