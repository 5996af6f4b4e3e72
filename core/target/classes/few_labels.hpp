// The labels of a few points in order of arrival, each with its points, so that sums over labels
// read no label that does not occur.
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
            label_[size_] = labels[p];  // a sentinel: the search ends here at the latest
            while (label_[k] != labels[p]) ++k;
            if (k == size_) points_[size_++] = 0;
            points_[k] |= std::uint64_t{1} << p;
        }
    }

    std::size_t size() const { return size_; }  // labels that occur
    const std::uint64_t* points() const {
        return points_.data();
    }  // a bit per point, for each label

private:
    std::size_t size_ = 0;
    std::array<Class, most + 1> label_;
    std::array<std::uint64_t, most> points_;
};

}  // namespace riparian
