// Depth images as a feature space (R16): a feature is a pair of offsets, its value at a pixel the
// difference of the depths at two places. There are infinitely many, and each leaf draws its own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "draws.hpp"
#include "kernels/kernels.hpp"
#include "space/feature_space.hpp"
#include "space/pixel.hpp"

namespace riparian {

// Pixels of images in C order, all of one size. Every depth is positive: pixels without a return
// already have the far depth.
class Pixels {
public:
    Pixels(const float* images, std::int32_t height, std::int32_t width, const std::int32_t* pixels,
           std::size_t n, float far)
        : images_(images), height_(height), width_(width), pixels_(pixels), n_(n), far_(far) {}

    std::size_t size() const { return n_; }

    Pixel point(std::size_t i) const {
        const std::int32_t* p = pixels_ + 3 * i;  // image, row, column
        const float* image = images_ + static_cast<std::size_t>(p[0]) * area();
        const float z = image[static_cast<std::size_t>(p[1]) * static_cast<std::size_t>(width_) +
                              static_cast<std::size_t>(p[2])];
        return {image, height_, width_, p[1], p[2], reference_depth / z, far_};
    }

    Pixels slice(std::size_t first, std::size_t count) const {
        return {images_, height_, width_, pixels_ + 3 * first, count, far_};
    }

private:
    static constexpr float reference_depth = 2.0f;  // metres; offsets are pixels there

    std::size_t area() const {
        return static_cast<std::size_t>(height_) * static_cast<std::size_t>(width_);
    }

    const float* images_;
    std::int32_t height_, width_;
    const std::int32_t* pixels_;
    std::size_t n_;
    float far_;
};

class DepthDifferences {
public:
    static constexpr bool columns = false;
    using Feature = OffsetPair;
    using Point = Pixel;
    using Batch = Pixels;

    DepthDifferences(double offset_std, const HowMany& candidates)
        : offset_std_(offset_std), candidates_(candidates) {}

    static float value(Feature pair, const Point& p) { return depth_difference(pair, p); }
    static bool equals(const Feature&) { return false; }
    template <Asks>
    static std::uint32_t goes_right(Feature pair, float threshold, const Point& p) {
        return !(value(pair, p) <= threshold);
    }
    static Feature saved(Feature pair) { return pair; }
    static Feature restored(Feature pair) { return pair; }
    static void project(const Feature* pairs, std::size_t n, const Point& p, float* values) {
        kernels().depth_differences(p, pairs, n, values);
    }

    // R16: 1 + Poisson(λ) pairs, independent.
    void draw(Draws& draws, Shuffle&, std::vector<Feature>& drawn) const {
        drawn.resize(candidates_.draw(draws));
        for (Feature& f : drawn)
            for (float* offset : {&f.u_row, &f.u_column, &f.v_row, &f.v_column})
                *offset = static_cast<float>(offset_std_ * draws.gaussian());
    }

private:
    double offset_std_;  // pixels at the reference depth
    HowMany candidates_;
};

static_assert(FeatureSpace<DepthDifferences>);

}  // namespace riparian
