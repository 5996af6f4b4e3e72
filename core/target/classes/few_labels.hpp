// The labels of a few points, in the order they come, each with its points: sums over labels touch
// no more than are there.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "target/classes/labels.hpp"

namespace riparian {

class FewLabels {
public:
    static constexpr std::size_t most = 64;  // points

    explicit FewLabels(std::span<const Class> labels) {
        for (std::size_t p = 0; p < labels.size(); ++p) {
            std::size_t k = 0;
            label_[size_] = labels[p];  // so that it is found
            while (label_[k] != labels[p]) ++k;
            if (k == size_) points_[size_++] = 0;
            points_[k] |= std::uint64_t{1} << p;
        }
    }

    std::size_t size() const { return size_; }                      // labels that are there
    const std::uint64_t* points() const { return points_.data(); }  // of each, a bit per point

private:
    std::size_t size_ = 0;
    std::array<Class, most + 1> label_;
    std::array<std::uint64_t, most> points_;
};

}  // namespace riparian
