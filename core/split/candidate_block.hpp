// The memory layout of an active leaf's candidates. One block holds the object itself and
// everything that exists once per split point, per candidate or per dimension. All casts that this
// needs are in this file.
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

// `Header` is the object at the start of the block.
template <class Header, class Feature>
class CandidateBlock {
public:
    static void* allocate(Pool& pool, const CandidateShape& shape) {
        return pool.allocate(bytes(shape), charged(shape));
    }

    // The charge of a tree must not depend on addresses, so it always includes the padding behind
    // the thresholds.
    static std::size_t charged(const CandidateShape& shape) {
        return aligned(sizeof(Header) + shape.split_points * sizeof(std::uint64_t) +
                           shape.candidates() * sizeof(float),
                       alignof(Feature)) +
               std::max(shape.dims * sizeof(Feature), overread);
    }

    // Initialises everything behind the header to its state before the first split point.
    static void fill(Header* header, const CandidateShape& shape, const Feature* features) {
        // Nothing is <= NaN: a split point that does not exist yet counts no point.
        std::uninitialized_fill_n(thresholds(header), shape.candidates(),
                                  std::numeric_limits<float>::quiet_NaN());
        // Some of it may be read as thresholds, and all of it is copied.
        std::memset(block(header) + features_at(shape), 0, bytes(shape) - features_at(shape));
        std::uninitialized_copy_n(features, shape.dims,
                                  reinterpret_cast<Feature*>(block(header) + features_at(shape)));
        std::uninitialized_fill_n(born(header, shape), shape.split_points, 0);
    }

    static Header* copy(Pool& pool, const Header* header, const CandidateShape& shape) {
        static_assert(std::is_trivially_copyable_v<Header>);
        void* block = allocate(pool, shape);
        std::memcpy(block, static_cast<const void*>(header), bytes(shape));
        return std::launder(static_cast<Header*>(block));
    }

    static void release(Pool& pool, Header* header, const CandidateShape& shape) {
        static_assert(std::is_trivially_destructible_v<Header>);
        const CandidateShape kept = shape;  // the argument may be in the block
        pool.release(header, bytes(kept), charged(kept));
    }

    // For candidate d*m+j.
    static float* thresholds(Header* header) {
        static_assert(sizeof(Header) % alignof(float) == 0);
        return reinterpret_cast<float*>(block(header) + sizeof(Header));
    }
    static const float* thresholds(const Header* header) {
        return thresholds(const_cast<Header*>(header));
    }
    // One per dimension.
    static const Feature* features(const Header* header, const CandidateShape& shape) {
        return reinterpret_cast<const Feature*>(block(header) + features_at(shape));
    }

    // One per split point. Only splits read these, so they come after everything that a point
    // reads.
    static std::uint64_t* born(Header* header, const CandidateShape& shape) {
        return reinterpret_cast<std::uint64_t*>(block(header) + born_at(shape));
    }
    static const std::uint64_t* born(const Header* header, const CandidateShape& shape) {
        return born(const_cast<Header*>(header), shape);
    }

private:
    // A kernel reads up to 16 floats past the last threshold: the features and what follows them.
    static constexpr std::size_t overread = 16 * sizeof(float);

    static std::size_t aligned(std::size_t at, std::size_t alignment) {
        return (at + alignment - 1) / alignment * alignment;
    }
    static std::size_t thresholds_end(const CandidateShape& shape) {
        return sizeof(Header) + shape.candidates() * sizeof(float);
    }
    static std::size_t features_at(const CandidateShape& shape) {
        return aligned(thresholds_end(shape), alignof(Feature));
    }
    static std::size_t born_at(const CandidateShape& shape) {
        return aligned(features_at(shape) + shape.dims * sizeof(Feature), alignof(std::uint64_t));
    }
    static std::size_t bytes(const CandidateShape& shape) {
        return std::max(born_at(shape) + shape.split_points * sizeof(std::uint64_t),
                        thresholds_end(shape) + overread);
    }
    static std::byte* block(Header* header) { return reinterpret_cast<std::byte*>(header); }
    static const std::byte* block(const Header* header) {
        return reinterpret_cast<const std::byte*>(header);
    }
};

}  // namespace riparian
