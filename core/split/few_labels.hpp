// The labels of a few points, numbered as they come, so that sums over labels touch no more than are there.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "counts/labels.hpp"

namespace riparian {

class FewLabels {
public:
    static constexpr std::size_t most = 64;  // points

    explicit FewLabels(std::span<const Class> labels) {
        for (std::size_t p = 0; p < labels.size(); ++p) {
            std::uint32_t k = 0;
            label_[size_] = labels[p];  // so that it is found
            while (label_[k] != labels[p]) ++k;
            size_ += k == size_;
            number_[p] = k;
        }
    }

    std::size_t size() const { return size_; }  // labels that are there
    std::uint32_t operator[](std::size_t point) const { return number_[point]; }

private:
    std::uint32_t size_ = 0;
    std::array<std::uint32_t, most> number_;  // of each point's label
    std::array<Class, most + 1> label_;
};

}  // namespace riparian
