// A leaf: its statistics, which predict, and while it is active, the candidates that may split it.
#pragma once

#include <cstdint>

#include "split/candidates.hpp"

namespace riparian {

template <class Candidates>
struct Leaf {
    // What predicts, over the lifetime of the cell: for classes, Y^e(A).
    typename Candidates::Target::Statistics estimation;
    Candidates* candidates = nullptr;  // null unless active
    // E0: estimation points of the tree when the lifetime of the leaf began.
    std::uint64_t born = 0;
    std::uint32_t node = 0;  // its number, in order of creation
    std::uint32_t depth = 0;
    std::uint32_t next = 0;   // while young: the listed structure points at which it looks (R20)
    std::uint32_t place = 0;  // in the heap of inactive leaves

    bool young() const { return next != 0; }
    bool settled() const { return candidates != nullptr; }
    bool active() const { return young() || settled(); }
};

}  // namespace riparian
