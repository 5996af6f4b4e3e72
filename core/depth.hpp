// Depth images as a feature space (R16): a feature is a pair of offsets, its value at a pixel the
// difference of the depths at two places. There are infinitely many, and each leaf draws its own.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "features.hpp"
#include "kernels.hpp"
#include "rng.hpp"

namespace riparian {

// Two places, as offsets from a pixel at the reference depth.
struct OffsetPair {
    float u_row = 0, u_column = 0, v_row = 0, v_column = 0;
};

// A pixel of an image, and how offsets scale there.
struct Pixel {
    const float* image;
    std::int32_t height, width;
    std::int32_t row, column;
    float scale;  // r / z: near things are large
    float far;    // the depth of what lies outside
};

// Pixels of images in C order, all of one size. Every depth is positive: what had no return reads the
// far depth already.
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

    RIPARIAN_HOT static float value(Feature f, const Point& p) {
        return depth(p, f.u_row, f.u_column) - depth(p, f.v_row, f.v_column);
    }

    // R16: 1 + Poisson(λ) pairs, independent.
    void draw(Draws& draws, std::vector<Feature>& drawn) const {
        drawn.resize(candidates_.draw(draws));
        for (Feature& f : drawn)
            for (float* offset : {&f.u_row, &f.u_column, &f.v_row, &f.v_column})
                *offset = static_cast<float>(offset_std_ * draws.gaussian());
    }

private:
    // Where an offset leads, in whole pixels; so far outside that it does not matter is all the same.
    static std::int32_t moved(std::int32_t from, float offset, float scale) {
        constexpr float most = 1 << 20;
        return from + static_cast<std::int32_t>(std::max(-most, std::min(most, offset * scale)));
    }

    static float depth(const Point& p, float d_row, float d_column) {
        const std::int32_t row = moved(p.row, d_row, p.scale);
        const std::int32_t column = moved(p.column, d_column, p.scale);
        // Below zero is beyond every size, as an unsigned number. Read something in any case, so that
        // there is a choice and no branch: pixels near a border would make it a toss.
        const bool inside =
            (static_cast<std::uint32_t>(row) < static_cast<std::uint32_t>(p.height)) &
            (static_cast<std::uint32_t>(column) < static_cast<std::uint32_t>(p.width));
        const std::size_t at = static_cast<std::size_t>(row) * static_cast<std::size_t>(p.width) +
                               static_cast<std::size_t>(column);
        const float read = p.image[inside ? at : 0];
        return inside ? read : p.far;
    }

    double offset_std_;  // pixels at the reference depth
    HowMany candidates_;
};

static_assert(FeatureSpace<DepthDifferences>);

}  // namespace riparian
