// How the candidates of a leaf are numbered.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>

namespace riparian {

// Candidate d*m+j is split point j in dimension d. After the last dimension there is one in which
// every point goes left. Its m counters hold what each split point has seen in all, so the counts
// of a right child are these minus those of the left child.
struct CandidateShape {
    std::uint32_t dims = 0;
    std::uint32_t split_points = 0;  // m

    std::size_t candidates() const { return std::size_t{dims} * split_points; }
    std::size_t everyone(std::size_t j) const { return candidates() + j; }
    std::size_t counters() const { return (candidates() + split_points + 7) / 8 * 8; }
    std::size_t words() const { return (counters() + 63) / 64; }  // of bits, one per counter
};

inline constexpr std::uint32_t no_candidate = std::numeric_limits<std::uint32_t>::max();

}  // namespace riparian
