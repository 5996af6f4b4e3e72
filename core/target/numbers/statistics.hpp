// The targets of the estimation points of a leaf, as sums (R26): all that may predict.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>

#include "counts/streams.hpp"
#include "memory/pool.hpp"
#include "state_fields.hpp"

namespace riparian {

using Number = double;  // z: a target, less the first one of the stream

struct NoScratch {};

// n·variance of points with these sums. What rounding leaves below zero is 0, and so is NaN, which
// sums that have overflown give.
inline double squared_error(double n, double sum, double squares) {
    const double error = squares - sum * (sum / n);
    return error > 0.0 ? error : 0.0;
}

// n, Σz and Σz² of a node, added in order of arrival; it is all in the leaf, nothing in the pool.
class NumberStatistics {
public:
    NumberStatistics() = default;
    // Without the points: they may differ.
    NumberStatistics(std::uint64_t total, double sum, double squares)
        : total_(total), sum_(sum), squares_(squares) {}

    void add(Pool&, Number z, Weight n) {
        same_ = total_ == 0 || same_ == z ? z : std::numeric_limits<double>::quiet_NaN();
        const double weighted = static_cast<double>(n) * z;
        total_ += n;
        sum_ += weighted;
        squares_ += weighted * z;
    }

    template <class Check>
    void fill(Pool& pool, std::span<const Number> labels, std::span<const Weight> weights, Check&) {
        for (std::size_t i = 0; i < labels.size(); ++i)
            add(pool, labels[i], weights.empty() ? Weight{1} : weights[i]);
    }

    std::uint64_t total() const { return total_; }
    double sum() const { return sum_; }
    double mean() const { return total_ == 0 ? 0.0 : sum_ / static_cast<double>(total_); }
    bool is_pure() const { return total_ == 0 || same_ == same_; }
    // The target of all points, if it is one and that is known.
    double same() const { return same_; }
    // The squared error of the mean. Equal targets have none, however their sums were rounded.
    double errors() const {
        if (is_pure()) return 0.0;
        return squared_error(static_cast<double>(total_), sum_, squares_);
    }

    void prefetch() const {}
    void move_to(Pool&) {}
    void release(Pool&) {}
    template <class Known>
    static std::size_t charge(const Known&) {
        return 0;
    }

    template <class State>
    void save(State& out) const {
        array<"leaf_weight">(out).push_back(total_);
        array<"leaf_sum">(out).push_back(sum_);
        array<"leaf_squares">(out).push_back(squares_);
        array<"leaf_same">(out).push_back(same_);
    }
    struct Reader {
        riparian::Reader<Long> total;
        riparian::Reader<double> sum, squares, same;

        template <class State>
        explicit Reader(const State& in)
            : total(array<"leaf_weight">(in)),
              sum(array<"leaf_sum">(in)),
              squares(array<"leaf_squares">(in)),
              same(array<"leaf_same">(in)) {}
    };
    void restore(Pool&, Reader& in) {
        total_ = in.total.one();
        sum_ = in.sum.one();
        squares_ = in.squares.one();
        same_ = in.same.one();
    }

private:
    std::uint64_t total_ = 0;
    double sum_ = 0.0, squares_ = 0.0;
    double same_ = std::numeric_limits<double>::quiet_NaN();  // what all of them are; NaN: unknown
};

}  // namespace riparian
