// A pixel, a pair of offsets, and the one formula that both go into (R16). What has code here has a
// copy of its own in each file that includes it: the kernels are compiled for other machines than
// the rest.
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
    float scale;  // r / z: near things are large
    float far;    // the depth of what lies outside
};

// An offset of more is all the same: it leads outside.
static constexpr float farthest_offset = 1 << 20;

static inline std::int32_t moved(std::int32_t from, float offset, float scale) {
    const float by = offset * scale;
    const float below = by < farthest_offset ? by : farthest_offset;
    return from + static_cast<std::int32_t>(below > -farthest_offset ? below : -farthest_offset);
}

static inline float depth_at(const Pixel& p, float d_row, float d_column) {
    const std::int32_t row = moved(p.row, d_row, p.scale);
    const std::int32_t column = moved(p.column, d_column, p.scale);
    // Below zero is beyond every size, as an unsigned number. Something is read in any case, so
    // that there is a choice and no branch: near a border it would be a toss.
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
