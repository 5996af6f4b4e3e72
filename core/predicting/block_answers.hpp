// The answers of trees to the points of a block, each just before the point is learned.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace riparian {

// The sums of one thread's trees: one row per point. They are integers, so neither threads nor the
// order of the trees matter (R11).
template <class Voting>
class BlockAnswers {
public:
    // Starts a block of n points, the first of which is point t. Each is predicted before it is
    // learned.
    void begin(Voting voting, std::uint64_t t, std::size_t n, std::size_t width) {
        voting_ = voting;
        first_ = t;
        width_ = width;
        sums_.assign(n * width, 0);
        asked_ = true;
    }
    void end() { asked_ = false; }

    bool asked() const { return asked_; }
    Voting voting() const { return voting_; }
    std::int64_t* row(std::uint64_t t) { return sums_.data() + (t - first_) * width_; }

    // Adds the sums of another thread and sets those to zero.
    void take(BlockAnswers& others) {
        for (std::size_t i = 0; i < sums_.size(); ++i) {
            sums_[i] += others.sums_[i];
            others.sums_[i] = 0;
        }
    }

private:
    bool asked_ = false;
    Voting voting_{};
    std::uint64_t first_ = 0;
    std::size_t width_ = 0;
    std::vector<std::int64_t> sums_;
};

}  // namespace riparian
