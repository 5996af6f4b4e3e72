// What the candidates of a settled leaf have counted of numbers, and what they gain (R26).
//
// As for classes, the two streams are types: counts of structure points choose a split, those of
// estimation points become the statistics of its children.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <tuple>
#include <type_traits>
#include <vector>

#include "counts/candidate.hpp"
#include "counts/candidate_shape.hpp"
#include "counts/counters.hpp"
#include "counts/estimation_totals.hpp"
#include "counts/streams.hpp"
#include "kernels/kernels.hpp"
#include "memory/pool.hpp"
#include "state_fields.hpp"
#include "target/numbers/statistics.hpp"

namespace riparian {

// The gain of a split, times its points: what the means of the two sides save of the squared error.
// The right side is always all points less the left side.
inline double saved_error(double n, double sum, double left_n, double left_sum) {
    const double right_n = n - left_n;
    if (!(left_n > 0.0) || !(right_n > 0.0)) return 0.0;
    const double difference = left_sum / left_n - (sum - left_sum) / right_n;
    return left_n * right_n / n * (difference * difference);
}

// The share of an error that a split saves: what τ is compared with.
inline double share_of_error(double saved, double error) {
    return error > 0.0 ? saved / error : 0.0;
}

// A long list, counted candidate by candidate. In each candidate, points are added in the order of
// the list.
class NumberList {
public:
    struct Row {
        const std::uint64_t* left;     // the weight of the list left of each candidate,
        const double *sums, *squares;  // and the sums
    };

    static std::size_t stride(std::size_t points) { return (points + 15) / 16 * 16; }

    bool set(std::span<const Number> labels, std::span<const Weight> weights) {
        if (labels.size() < least_points) return false;
        const std::size_t n = labels.size();
        for (auto* column : {&weights_, &sums_, &squares_}) column->resize(n);
        weight_ = 0;
        for (std::size_t i = 0; i < n; ++i) {
            const Weight weight = weights.empty() ? Weight{1} : weights[i];
            weight_ += weight;
            weights_[i] = static_cast<double>(weight);
            sums_[i] = weights_[i] * labels[i];
            squares_[i] = sums_[i] * labels[i];
        }
        return true;
    }

    std::uint64_t weight() const { return weight_; }

    // visitor(row), once. values[d * stride + i] is that of point i in dimension d, and what is
    // past the last is not read; equals(d) says whether it is categorical (R22).
    template <class Equals, class Visitor>
    void for_each_row(const CandidateShape& shape, std::size_t split_points,
                      const float* thresholds, std::span<float> values, Equals&& equals,
                      Visitor&& visitor) {
        const std::size_t counters = shape.counters(), m = shape.split_points;
        left_.assign(counters, 0);
        left_sums_.assign(counters, 0.0);
        left_squares_.assign(counters, 0.0);
        for (std::size_t d = 0; d < shape.dims; ++d) {
            const float* mine = values.data() + d * stride(sums_.size());
            for (std::size_t j = 0; j < m; j += 16)
                count(mine, thresholds + d * m + j, std::min<std::size_t>(16, m - j), equals(d),
                      d * m + j);
        }
        double sum = 0.0, squares = 0.0;
        for (const double number : sums_) sum += number;
        for (const double number : squares_) squares += number;
        for (std::size_t j = 0; j < split_points; ++j) {
            left_[shape.everyone(j)] = weight_;
            left_sums_[shape.everyone(j)] = sum;
            left_squares_[shape.everyone(j)] = squares;
        }
        visitor(Row{left_.data(), left_sums_.data(), left_squares_.data()});
    }

private:
    static constexpr std::size_t least_points = 64;  // shorter ones are as fast point by point

    void count(const float* values, const float* thresholds, std::size_t m, bool equal,
               std::size_t first) {
        float padded[16];
        double points[16], left[16], sums[16], squares[16];
        std::fill_n(padded, 16, std::numeric_limits<float>::quiet_NaN());
        std::copy_n(thresholds, m, padded);
        const auto add_up = [&](const std::vector<double>& numbers, double* out) {
            kernels().sum_left(values, numbers.size(), padded, 16, equal, numbers.data(), out,
                               points);
        };
        add_up(weights_, left);
        add_up(sums_, sums);
        add_up(squares_, squares);
        for (std::size_t j = 0; j < m; ++j) {
            left_[first + j] = static_cast<std::uint64_t>(left[j]);
            left_sums_[first + j] = sums[j];
            left_squares_[first + j] = squares[j];
        }
    }

    std::uint64_t weight_ = 0;
    std::vector<double> weights_, sums_, squares_;  // of each point
    std::vector<std::uint64_t> left_;               // of each candidate
    std::vector<double> left_sums_, left_squares_;
};

// The weight of the points left of each candidate, their sum and, of points that predict, the sum
// of their squares. Of structure points, squares are only those of all points that a split point
// has seen.
template <class Stream>
class NumberCounts {
public:
    static constexpr bool predicts = !std::is_same_v<Stream, Structure>;
    static constexpr bool keeps_points = false;

    void release(Pool& pool, const CandidateShape& shape) {
        if (!sums_) return;
        weights_.release(pool);
        pool.release_array(sums_, numbers(shape));
        *this = {};
    }
    void move_to(Pool& pool, const CandidateShape& shape) {
        if (!sums_) return;
        weights_.move_to(pool);
        auto* moved = pool.allocate_array<double>(numbers(shape));
        std::copy_n(sums_, numbers(shape), moved);
        sums_ = moved;
    }
    void prefetch(const CandidateShape& shape, Number) const {
        if (sums_) riparian::prefetch(sums_, numbers(shape) * sizeof sums_[0]);
    }
    template <class Known>
    static std::size_t bytes_for(const CandidateShape& shape, std::uint64_t, const Known&) {
        return Pool::block_size(shape.counters()) +
               Pool::block_size(2 * shape.counters() * sizeof(double));
    }

    template <class Known>
    RIPARIAN_HOT void add(Pool& pool, const CandidateShape& shape, const std::uint64_t* bits,
                          Number z, Weight n, const Known&) {
        if (!sums_) allocate(pool, shape);
        const double weighted = static_cast<double>(n) * z;
        weights_.add_bits(pool, 0, bits, shape.counters(), n, shape.everyone(0));
        kernels().add_doubles(sums_, bits, shape.counters(), weighted);
        if constexpr (predicts)
            kernels().add_doubles(squares(shape), bits, shape.counters(), weighted * z);
        else
            for (std::size_t j = 0; j < shape.split_points; ++j) {
                const std::size_t everyone = shape.everyone(j);
                if (bits[everyone / 64] >> (everyone % 64) & 1)
                    squares(shape)[everyone] += weighted * z;
            }
    }

    // The first points, all at once.
    template <class Known>
    void add_row(Pool& pool, const CandidateShape& shape, const NumberList::Row& row,
                 const Known&) {
        if (!sums_) allocate(pool, shape);
        weights_.fit(pool, weights_[shape.everyone(0)] + row.left[shape.everyone(0)]);
        weights_.add_all(0, row.left, shape.counters());
        for (std::size_t i = 0; i < shape.counters(); ++i) sums_[i] += row.sums[i];
        for (std::size_t i = first_square(shape); i < shape.counters(); ++i)
            squares(shape)[i] += row.squares[i];
    }
    template <class Known>
    void count(Pool&, const CandidateShape&, const Known&) {}  // they are counted already

    // What split point j has seen, and how much of it is left of candidate i.
    struct Side {
        double n, sum;
    };
    Side at(std::size_t i) const { return {static_cast<double>(weights_[i]), sums_[i]}; }
    double squares_at(const CandidateShape& shape, std::size_t i) const {
        return squares(shape)[i];
    }
    bool empty() const { return sums_ == nullptr; }

    template <class Check>
    void fill_children(Pool&, const CandidateShape& shape, std::uint32_t candidate,
                       NumberStatistics& left, NumberStatistics& right, Check&) const {
        static_assert(predicts);
        if (!sums_) return;
        const std::size_t all = shape.everyone(candidate % shape.split_points);
        const double* squared = squares(shape);
        left = {weights_[candidate], sums_[candidate], squared[candidate]};
        right = {weights_[all] - weights_[candidate], sums_[all] - sums_[candidate],
                 squared[all] - squared[candidate]};
    }

    // sums[i] += the weight left of candidate i.
    void add_to(Pool& pool, const CandidateShape& shape, Counters& sums) const {
        if (!sums_) return;
        sums.fit(pool, sums[shape.everyone(0)] + weights_[shape.everyone(0)]);
        weights_.visit([&](const auto* weights) { sums.add_all(0, weights, shape.counters()); });
    }

    // -- as arrays: of each split point that is there, dimension by dimension, and then of all
    // points

    template <class State>
    static auto arrays(State& state) {
        if constexpr (predicts)
            return std::tie(array<"estimation_weight">(state), array<"estimation_sum">(state),
                            array<"estimation_squares">(state));
        else
            return std::tie(array<"structure_weight">(state), array<"structure_sum">(state),
                            array<"structure_squares">(state));
    }
    template <class State>
    void save(const CandidateShape& shape, std::uint32_t split_points, State& out) const {
        auto [weight, sum, square] = arrays(out);
        for (std::size_t d = 0; d <= shape.dims; ++d)
            for (std::size_t j = 0; j < split_points; ++j) {
                const std::size_t i = d * shape.split_points + j;
                weight.push_back(sums_ ? weights_[i] : 0);
                sum.push_back(sums_ ? sums_[i] : 0.0);
                if (predicts || d == shape.dims) square.push_back(sums_ ? squares(shape)[i] : 0.0);
            }
    }
    template <class State>
    static void save_none(State&) {}

    struct Reader {
        riparian::Reader<Long> weight;
        riparian::Reader<double> sum, square;

        template <class State>
        explicit Reader(const State& in)
            : weight(std::get<0>(arrays(in))),
              sum(std::get<1>(arrays(in))),
              square(std::get<2>(arrays(in))) {}
        void skip() {}
    };
    void restore(Pool& pool, const CandidateShape& shape, std::uint32_t split_points, Reader& in) {
        const std::size_t n = (std::size_t{shape.dims} + 1) * split_points;
        const Long* weight = in.weight.many(n);
        const double* sum = in.sum.many(n);
        const double* square = in.square.many(predicts ? n : split_points);
        if (split_points == 0 || weight[n - split_points] == 0) return;  // no point was counted
        allocate(pool, shape);
        weights_.fit(pool, weight[n - split_points]);
        for (std::size_t d = 0; d <= shape.dims; ++d)
            for (std::size_t j = 0; j < split_points; ++j) {
                const std::size_t i = d * shape.split_points + j;
                weights_.add(pool, i, *weight++);
                sums_[i] = *sum++;
                if (predicts || d == shape.dims) squares(shape)[i] = *square++;
            }
    }

private:
    static std::size_t first_square(const CandidateShape& shape) {
        return predicts ? 0 : shape.candidates();
    }
    static std::size_t numbers(const CandidateShape& shape) {
        return 2 * shape.counters() - first_square(shape);
    }
    // That of counter i is at place i, if it is there.
    double* squares(const CandidateShape& shape) const {
        return sums_ + shape.counters() - first_square(shape);
    }

    void allocate(Pool& pool, const CandidateShape& shape) {
        weights_.allocate(pool, shape.counters());
        sums_ = pool.allocate_array<double>(numbers(shape));
        std::fill_n(sums_, numbers(shape), 0.0);
    }

    Counters weights_;
    double* sums_ = nullptr;  // the squares come after them
};

// What a thread needs for a split check.
struct NumberCheck {
    std::vector<Candidate> room;
};

// Gains are worked out from the counts at each check.
class NumberGains {
public:
    using Counts = NumberCounts<Structure>;

    static bool kept() { return false; }
    void keep(Pool&, const CandidateShape&, const Counts&, std::uint32_t, NumberCheck&) {}
    void add(Pool&, const CandidateShape&, const Counts&, const std::uint64_t*, Number, Weight,
             std::uint32_t, NumberCheck&) {}
    void restore(Pool&, const CandidateShape&, const Counts&, std::uint32_t, NumberCheck&) {}
    void prefetch(const CandidateShape&) const {}
    void move_to(Pool&, const CandidateShape&) {}
    void release(Pool&, const CandidateShape&) {}
    template <class MayBeValid>
    static bool none_above(double, const CandidateShape&, std::uint32_t, MayBeValid&&,
                           const NumberCheck&) {
        return false;
    }

    // R9: of the valid candidates the one that saves the most, the last among equals.
    std::optional<Choice<double>> best(const CandidateShape& shape, std::uint32_t split_points,
                                       const EstimationTotals& estimation, std::uint64_t alpha,
                                       const Counts& structure, NumberCheck& check) const {
        const auto valid = estimation.valid(shape, split_points, alpha, check.room);
        if (valid.empty()) return std::nullopt;
        Choice<double> choice{valid[0].number, -std::numeric_limits<double>::infinity(), 0.0};
        std::uint32_t split_point = 0;
        for (const auto [i, j] : valid) {
            const auto all = structure.at(shape.everyone(j)), left = structure.at(i);
            const double g = saved_error(all.n, all.sum, left.n, left.sum);
            if (!(g > choice.g || (g == choice.g && j >= split_point))) continue;
            choice.candidate = i;
            choice.g = g;
            split_point = j;
        }
        const std::size_t everyone = shape.everyone(split_point);
        const auto all = structure.at(everyone);
        choice.gain = share_of_error(
            choice.g, squared_error(all.n, all.sum, structure.squares_at(shape, everyone)));
        return choice;
    }
};

}  // namespace riparian
