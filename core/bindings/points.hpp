// Converts the points of a space between Python and the core.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "bindings/arrays.hpp"
#include "forest.hpp"
#include "rules/two_streams.hpp"
#include "space/columns.hpp"
#include "space/depth.hpp"
#include "target/classes.hpp"

namespace riparian {

// Pixels and the images that they belong to, as they come from Python.
struct PixelArrays {
    nb::ndarray<const float, nb::ndim<3>, nb::c_contig, nb::device::cpu> images;
    nb::ndarray<const std::int32_t, nb::shape<-1, 3>, nb::c_contig, nb::device::cpu> pixels;
    float far;
};

template <class Space>
struct Input;
template <>
struct Input<Columns> {
    using Points = Rows2;
    static Matrix batch(const Rows2& X) { return {X.data(), X.shape(0), X.shape(1)}; }
};
template <>
struct Input<DepthDifferences> {
    using Points = PixelArrays;
    static Pixels batch(const PixelArrays& p) {
        return {p.images.data(),
                static_cast<std::int32_t>(p.images.shape(1)),
                static_cast<std::int32_t>(p.images.shape(2)),
                p.pixels.data(),
                p.pixels.shape(0),
                p.far};
    }
};

inline constexpr std::size_t block = Forest<Columns, TwoStreams, Classes>::block;

// Calls the visitor for each block of `size` points, in order.
template <class Batch, class Work>
void in_blocks(const Batch& points, std::size_t size, Work&& work) {
    for (std::size_t first = 0; first < points.size(); first += size)
        work(first, points.slice(first, std::min(size, points.size() - first)));
}

}  // namespace riparian
