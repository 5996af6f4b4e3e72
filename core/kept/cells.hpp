// The cells of leaves that look one after the other. The points that a leaf lists are stored side
// by side, with their labels and weights, and are divided in place when the leaf splits. So lists
// are read only at the start of a series of looks, and linked only at its end.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "counts/streams.hpp"
#include "space/categories.hpp"

namespace riparian {

// A range of points of one stream that are stored side by side.
struct Run {
    std::size_t first = 0, count = 0;
};

struct Cell {
    Run structure, estimation;
};

// The points of one stream in all cells. The points of a cell are in order of time.
template <class Label>
class CellPoints {
public:
    void clear() {
        ts_.clear();
        labels_.clear();
        weights_.clear();
    }

    // Calls append(ts) and returns the run of the numbers that it has added.
    template <class Append>
    Run add(Append&& append) {
        const std::size_t first = ts_.size();
        append(ts_);
        labels_.resize(ts_.size());
        return {first, ts_.size() - first};
    }
    // The same for two streams at once: append(ts, ts of the other).
    template <class Append>
    static Cell add(CellPoints& structure, CellPoints& estimation, Append&& append) {
        Cell cell;
        cell.structure = structure.add([&](std::vector<std::uint64_t>& of_structure) {
            cell.estimation = estimation.add([&](std::vector<std::uint64_t>& of_estimation) {
                append(of_structure, of_estimation);
            });
        });
        return cell;
    }
    // Stores weight_of(t) for each point; not needed if all weights are 1.
    template <class WeightOf>
    void weigh(const Run& run, WeightOf&& weight_of) {
        weights_.resize(ts_.size());
        for (std::size_t i = run.first; i < run.first + run.count; ++i)
            weights_[i] = weight_of(ts_[i]);
    }

    std::span<const std::uint64_t> ts(const Run& run) const {
        return {ts_.data() + run.first, run.count};
    }
    std::span<Label> labels(const Run& run) { return {labels_.data() + run.first, run.count}; }
    std::span<const Weight> weights(const Run& run) const {  // empty: all 1
        if (weights_.empty()) return {};
        return {weights_.data() + run.first, run.count};
    }

    struct Sides {
        Run left, right;
    };
    // Moves the points that go left (R4; R22 if `equal`) before the others and keeps the order of
    // both parts. `values` has the value of each point in the dimension of the split.
    Sides divide(const Run& run, const float* values, float threshold, bool equal) {
        if (equal && threshold < 0)
            return divide_by(run, values,
                             [=](float v) { return category_goes_left(v, threshold); });
        if (equal) return divide_by(run, values, [=](float v) { return v == threshold; });
        return divide_by(run, values, [=](float v) { return v <= threshold; });
    }

private:
    template <class IsLeft>
    Sides divide_by(const Run& run, const float* values, IsLeft is_left) {
        if (run.count == 2 && weights_.empty())  // as in most cells
            return divide_two(run, is_left(values[0]), is_left(values[1]));
        if (room_.size() < run.count) {
            room_.resize(run.count);
            room_labels_.resize(run.count);
        }
        const std::size_t left = divide_numbers(run, values, is_left);
        if (!weights_.empty()) divide_weights(run, values, is_left);
        return {{run.first, left}, {run.first + left, run.count - left}};
    }

    Sides divide_two(const Run& run, bool first_left, bool second_left) {
        const std::size_t swapped = second_left && !first_left;
        const std::array ts{ts_[run.first], ts_[run.first + 1]};
        const std::array labels{labels_[run.first], labels_[run.first + 1]};
        for (std::size_t i = 0; i < 2; ++i) {
            ts_[run.first + i] = ts[i ^ swapped];
            labels_[run.first + i] = labels[i ^ swapped];
        }
        const std::size_t left = std::size_t{first_left} + second_left;
        return {{run.first, left}, {run.first + left, 2 - left}};
    }

    // There is no branch, since the side is as random as a coin toss.
    template <class IsLeft>
    std::size_t divide_numbers(const Run& run, const float* values, IsLeft is_left) {
        std::uint64_t *ts = ts_.data() + run.first, *ts_right = room_.data();
        Label *labels = labels_.data() + run.first, *labels_right = room_labels_.data();
        std::size_t left = 0, right = 0;
        for (std::size_t i = 0; i < run.count; ++i) {
            const std::uint64_t t = ts[i];
            const Label label = labels[i];
            const bool goes_left = is_left(values[i]);
            ts[left] = ts_right[right] = t;
            labels[left] = labels_right[right] = label;
            left += goes_left;
            right = i + 1 - left;
        }
        std::copy_n(ts_right, right, ts + left);
        std::copy_n(labels_right, right, labels + left);
        return left;
    }

    template <class IsLeft>
    void divide_weights(const Run& run, const float* values, IsLeft is_left) {
        Weight* weights = weights_.data() + run.first;
        room_weights_.clear();
        std::size_t left = 0;
        for (std::size_t i = 0; i < run.count; ++i)
            if (is_left(values[i]))
                weights[left++] = weights[i];
            else
                room_weights_.push_back(weights[i]);
        std::copy(room_weights_.begin(), room_weights_.end(), weights + left);
    }

    std::vector<std::uint64_t> ts_;
    std::vector<Label> labels_;
    std::vector<Weight> weights_;  // empty: all 1
    std::vector<std::uint64_t> room_;
    std::vector<Label> room_labels_;
    std::vector<Weight> room_weights_;
};

}  // namespace riparian
