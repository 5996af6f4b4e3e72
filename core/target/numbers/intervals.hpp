// Intervals around the answers of a forest of numbers (R28): the distribution of the targets near a
// point, and levels that follow how often the intervals have held the target.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "counts/streams.hpp"
#include "target/numbers/following.hpp"
#include "target/numbers/statistics.hpp"

namespace riparian {

// The targets of the neighbours of a point in one tree, and their weights if these are not all 1.
struct NumberNeighbours {
    std::vector<Number> targets;
    std::vector<Weight> weights;  // empty: all 1

    void clear() {
        targets.clear();
        weights.clear();
    }
    bool empty() const { return targets.empty(); }

    // visitor(target, its part of the tree's vote in units of 2^-40, half to even).
    template <class Visitor>
    void for_each_part(Visitor&& visitor) const {
        if (empty()) return;
        std::uint64_t total = targets.size();
        if (!weights.empty()) {
            total = 0;
            for (const Weight weight : weights) total += weight;
        }
        const auto part = [&](Weight weight) {
            const double share = static_cast<double>(weight) / static_cast<double>(total);
            return static_cast<std::int64_t>(std::rint(share * 0x1p40));
        };
        const std::int64_t of_one = part(1);
        for (std::size_t i = 0; i < targets.size(); ++i)
            visitor(targets[i], weights.empty() ? of_one : part(weights[i]));
    }
};

// Whether a part of the distribution reaches quantile q.
inline bool reaches(std::int64_t part, std::int64_t whole, double q) {
    return part > 0 && static_cast<double>(part) >= q * static_cast<double>(whole);
}

// A neighbour, or several with the same target.
struct NumberPart {
    Number target;
    std::int64_t size;
};

// Where a target stands among the neighbours of its point, in all trees. Sums of integers, and the
// smallest and largest target: the order of the trees does not matter.
struct NumberStanding {
    std::int64_t below = 0, up_to = 0, whole = 0;  // parts below the target, up to it, and all
    Number least = std::numeric_limits<Number>::infinity();
    Number most = -std::numeric_limits<Number>::infinity();
    std::vector<NumberPart> kept;  // that it does not know yet

    void add(const NumberNeighbours& neighbours, Number z) {
        neighbours.for_each_part([&](Number target, std::int64_t part) { add(target, part, z); });
    }
    void add(Number target, std::int64_t part, Number z) {
        below += target < z ? part : 0;
        up_to += target <= z ? part : 0;
        whole += part;
        least = std::min(least, target);
        most = std::max(most, target);
    }
    // Where targets move with an answer that is not known yet (R29), they are kept until it is.
    void keep(const NumberNeighbours& neighbours) {
        neighbours.for_each_part(
            [&](Number target, std::int64_t part) { kept.push_back({target, part}); });
    }
    void settle(Number z, const Moved& moved) {
        for (const NumberPart& each : kept) add(moved(each.target), each.size, z);
    }
    void add(const NumberStanding& other) {
        below += other.below;
        up_to += other.up_to;
        whole += other.whole;
        least = std::min(least, other.least);
        most = std::max(most, other.most);
    }
};

// The level of an interval: how much of the distribution lies outside. It follows the stream, so
// that the share `coverage` of the targets lies inside (Gibbs and Candès 2021).
struct IntervalLevel {
    double coverage, level;

    explicit IntervalLevel(double its_coverage)
        : coverage(its_coverage), level(1.0 - its_coverage) {}

    double lower() const { return std::max(level, 0.0) / 2.0; }
    double upper() const { return 1.0 - lower(); }

    // Below 0 there is a margin on both sides, given the range of the neighbours and the error of
    // the forest.
    double margin(Number least, Number most, double error) const {
        if (!(level < 0.0)) return 0.0;
        const double range = most - least;
        return stretch * -level * (range > 0.0 ? range : error);
    }

    // A point is about to be learned.
    void judge(const NumberStanding& at, Number z, double error) {
        const double margin = this->margin(at.least, at.most, error);
        const bool holds = level < 0.0 ? z >= at.least - margin && z <= at.most + margin
                                       : reaches(at.up_to, at.whole, lower()) &&
                                             !reaches(at.below, at.whole, upper());
        level = std::min(1.0, level + rate * ((1.0 - coverage) - (holds ? 0.0 : 1.0)));
    }

private:
    static constexpr double rate = 0.01;
    static constexpr double stretch = 20.0;
};

// The distribution of the targets near a point: of all trees, the neighbours with their parts.
class NumberDistribution {
public:
    void clear() {
        parts_.clear();
        whole_ = 0;
    }
    void add(const NumberNeighbours& neighbours) {
        neighbours.for_each_part([&](Number target, std::int64_t part) {
            parts_.push_back({target, part});
            whole_ += part;
        });
    }
    void add(std::span<const NumberPart> parts) {
        parts_.insert(parts_.end(), parts.begin(), parts.end());
        for (const NumberPart& part : parts) whole_ += part.size;
    }
    bool empty() const { return parts_.empty(); }

    // Sets out[i] to the quantile qs[i], the smallest target up to which the distribution reaches
    // it. They ascend. Nothing is known where there is no neighbour.
    void quantiles(std::span<const double> qs, const Moved& moved, double* out) {
        if (qs.empty()) return;
        if (empty())
            std::fill_n(out, qs.size(), std::numeric_limits<double>::quiet_NaN());
        else
            select(parts_, 0, qs, out);
        std::transform(out, out + qs.size(), out, moved);
    }

    // Any number, where there is no neighbour.
    std::array<double, 2> interval(const IntervalLevel& level, const Moved& moved, double error) {
        constexpr double infinity = std::numeric_limits<double>::infinity();
        if (empty()) return {-infinity, infinity};
        std::array<double, 2> ends;
        const std::array<double, 2> qs{level.lower(), level.upper()};
        quantiles(qs, moved, ends.data());
        const double margin = level.margin(ends[0], ends[1], error);
        return {ends[0] - margin, ends[1] + margin};
    }

private:
    // Quickselect for several quantiles at once, among parts above others of the size `below`.
    void select(std::span<NumberPart> parts, std::int64_t below, std::span<const double> qs,
                double* out) {
        while (true) {
            const Number pivot = middle(parts);
            const Divided sizes = divide(parts, pivot);
            const std::int64_t before = below + sizes.less, up_to = before + sizes.equal;
            const auto reached_by = [&](std::int64_t part) {
                const auto end = std::partition_point(
                    qs.begin(), qs.end(), [&](double q) { return reaches(part, whole_, q); });
                return static_cast<std::size_t>(end - qs.begin());
            };
            const std::size_t at_less = reached_by(before), at_pivot = reached_by(up_to);
            std::fill(out + at_less, out + at_pivot, pivot);
            if (at_pivot == qs.size()) {
                if (at_less == 0) return;
                parts = parts.first(sizes.n_less);
                qs = qs.first(at_less);
                continue;
            }
            if (at_less > 0) select(parts.first(sizes.n_less), below, qs.first(at_less), out);
            parts = parts.subspan(sizes.n_less, sizes.n_greater);
            below = up_to;
            qs = qs.subspan(at_pivot);
            out += at_pivot;
        }
    }

    // The parts below the pivot come first, then those above it; the others are not needed again.
    // There is no branch, since the side is as random as a coin toss.
    struct Divided {
        std::size_t n_less = 0, n_greater = 0;
        std::int64_t less = 0, equal = 0;
    };
    Divided divide(std::span<NumberPart> parts, Number pivot) {
        if (room_.size() < parts.size()) room_.resize(parts.size());
        Divided sizes;
        for (const NumberPart part : parts) {
            parts[sizes.n_less] = room_[sizes.n_greater] = part;
            const bool is_less = part.target<pivot, is_greater = part.target> pivot;
            sizes.n_less += is_less;
            sizes.n_greater += is_greater;
            sizes.less += is_less ? part.size : 0;
            sizes.equal += is_less || is_greater ? 0 : part.size;
        }
        std::copy_n(room_.begin(), sizes.n_greater,
                    parts.begin() + static_cast<std::ptrdiff_t>(sizes.n_less));
        return sizes;
    }

    static Number middle(std::span<const NumberPart> parts) {
        Number a = parts.front().target, b = parts[parts.size() / 2].target;
        const Number c = parts.back().target;
        if (a > b) std::swap(a, b);
        return std::clamp(c, a, b);
    }

    std::vector<NumberPart> room_;  // while parts are divided
    std::vector<NumberPart> parts_;
    std::int64_t whole_ = 0;
};

// What a forest has learned of the coverages that it was made with.
class NumberIntervals {
public:
    using Neighbours = NumberNeighbours;
    using Standing = NumberStanding;
    using Distribution = NumberDistribution;
    using State = std::vector<double>;  // the levels

    explicit NumberIntervals(const std::vector<double>& coverages)
        : levels_(coverages.begin(), coverages.end()) {}

    bool empty() const { return levels_.empty(); }
    std::size_t size() const { return levels_.size(); }
    const IntervalLevel& level(std::size_t i) const { return levels_.at(i); }

    // A point is about to be learned. A point without neighbours says nothing.
    void judge(const Standing& standing, Number z, double error) {
        if (standing.whole == 0) return;
        for (IntervalLevel& level : levels_) level.judge(standing, z, error);
    }

    // Adds both ends of the interval of each coverage. Each takes a copy of the distribution, since
    // to find quantiles is to divide it.
    void give(const Distribution& distribution, const Moved& moved, double error,
              std::vector<double>& given) const {
        for (const IntervalLevel& level : levels_) {
            const auto ends = Distribution(distribution).interval(level, moved, error);
            given.insert(given.end(), ends.begin(), ends.end());
        }
    }

    State state() const {
        State state;
        for (const IntervalLevel& level : levels_) state.push_back(level.level);
        return state;
    }
    void restore(const State& state) {
        for (std::size_t i = 0; i < levels_.size(); ++i) levels_[i].level = state.at(i);
    }

private:
    std::vector<IntervalLevel> levels_;
};

}  // namespace riparian
