// Where the candidates of an active leaf lie: one block holds the object itself and all that there is
// once per split point, per candidate or per dimension. The casts of that are here, and nowhere else.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <new>
#include <type_traits>

#include "counts/candidate_shape.hpp"
#include "memory/pool.hpp"

namespace riparian {

// `Header` is the object at the beginning of the block.
template <class Header, class Feature>
class CandidateBlock {
public:
    static std::size_t bytes(const CandidateShape& shape) {
        return features_at(shape) + std::max(shape.dims * sizeof(Feature), overread);
    }

    // Everything behind the header, as it is before the first split point.
    static void fill(Header* header, const CandidateShape& shape, const Feature* features) {
        std::uninitialized_fill_n(born(header), shape.split_points, 0);
        // Nothing is <= NaN: a split point that is not there yet counts nothing.
        std::uninitialized_fill_n(thresholds(header, shape), shape.candidates(),
                                  std::numeric_limits<float>::quiet_NaN());
        std::memset(block(header) + features_at(shape), 0, bytes(shape) - features_at(shape));
        std::uninitialized_copy_n(features, shape.dims,
                                  reinterpret_cast<Feature*>(block(header) + features_at(shape)));
    }

    static Header* copy(Pool& pool, const Header* header, const CandidateShape& shape) {
        static_assert(std::is_trivially_copyable_v<Header>);
        void* block = pool.allocate(bytes(shape));
        std::memcpy(block, static_cast<const void*>(header), bytes(shape));
        return std::launder(static_cast<Header*>(block));
    }

    static void release(Pool& pool, Header* header, const CandidateShape& shape) {
        static_assert(std::is_trivially_destructible_v<Header>);
        const std::size_t size = bytes(shape);  // the shape may lie in the block
        pool.release(header, size);
    }

    // Per split point.
    static std::uint64_t* born(Header* header) {
        return reinterpret_cast<std::uint64_t*>(block(header) + sizeof(Header));
    }
    static const std::uint64_t* born(const Header* header) {
        return born(const_cast<Header*>(header));
    }
    // Of candidate d*m+j.
    static float* thresholds(Header* header, const CandidateShape& shape) {
        return reinterpret_cast<float*>(block(header) + thresholds_at(shape));
    }
    static const float* thresholds(const Header* header, const CandidateShape& shape) {
        return thresholds(const_cast<Header*>(header), shape);
    }
    // Per dimension.
    static const Feature* features(const Header* header, const CandidateShape& shape) {
        return reinterpret_cast<const Feature*>(block(header) + features_at(shape));
    }

private:
    // A kernel reads up to 16 floats past the last threshold; where the features do not reach so far,
    // the block does.
    static constexpr std::size_t overread = 16 * sizeof(float);

    static std::size_t thresholds_at(const CandidateShape& shape) {
        static_assert(sizeof(Header) % alignof(std::uint64_t) == 0);
        return sizeof(Header) + shape.split_points * sizeof(std::uint64_t);
    }
    static std::size_t features_at(const CandidateShape& shape) {
        const std::size_t end = thresholds_at(shape) + shape.candidates() * sizeof(float);
        return (end + alignof(Feature) - 1) / alignof(Feature) * alignof(Feature);
    }
    static std::byte* block(Header* header) { return reinterpret_cast<std::byte*>(header); }
    static const std::byte* block(const Header* header) {
        return reinterpret_cast<const std::byte*>(header);
    }
};

}  // namespace riparian
