// A pixel, a pair of offsets, and the formula for both (R16). Each file that includes this one has
// its own copy of the functions, since kernels are compiled for other instruction sets than the
// rest.
#pragma once

#include <cstddef>
#include <cstdint>

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
    float scale;  // r / z: near objects appear large
    float far;    // the depth of what lies outside
};

// Larger offsets always lead outside the image.
static constexpr float farthest_offset = 1 << 20;

static inline std::int32_t moved(std::int32_t from, float offset, float scale) {
    const float by = offset * scale;
    const float below = by < farthest_offset ? by : farthest_offset;
    return from + static_cast<std::int32_t>(below > -farthest_offset ? below : -farthest_offset);
}

static inline float depth_at(const Pixel& p, float d_row, float d_column) {
    const std::int32_t row = moved(p.row, d_row, p.scale);
    const std::int32_t column = moved(p.column, d_column, p.scale);
    // A negative number becomes an unsigned number that is larger than every size. A depth is read
    // in any case, so there is a selection instead of a branch, which would be mispredicted near a
    // border.
    const bool inside = (static_cast<std::uint32_t>(row) < static_cast<std::uint32_t>(p.height)) &
                        (static_cast<std::uint32_t>(column) < static_cast<std::uint32_t>(p.width));
    const std::size_t at = static_cast<std::size_t>(row) * static_cast<std::size_t>(p.width) +
                           static_cast<std::size_t>(column);
    const float read = p.image[inside ? at : 0];
    return inside ? read : p.far;
}

static inline float depth_difference(const OffsetPair& f, const Pixel& p) {
    return depth_at(p, f.u_row, f.u_column) - depth_at(p, f.v_row, f.v_column);
}

}  // namespace riparian
