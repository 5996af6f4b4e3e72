// ŝ of a waiting leaf (R12), as a ratio of integers that is compared exactly.
#pragma once

#include <cstdint>

#include "state_fields.hpp"

#if defined(_MSC_VER)
#include <intrin.h>
#endif

namespace riparian {

struct Ratio {
    std::uint64_t over = 0;
    std::uint64_t under = 1;

    friend bool operator<(const Ratio& a, const Ratio& b) {
#if defined(_MSC_VER)
        std::uint64_t left_high, right_high;
        const std::uint64_t left = _umul128(a.over, b.under, &left_high);
        const std::uint64_t right = _umul128(b.over, a.under, &right_high);
        return left_high != right_high ? left_high < right_high : left < right;
#else
        __extension__ using Wide = unsigned __int128;
        return static_cast<Wide>(a.over) * b.under < static_cast<Wide>(b.over) * a.under;
#endif
    }

    template <class State>
    void save(State& out) const {
        array<"key_over">(out).push_back(over);
        array<"key_under">(out).push_back(under);
    }
    struct Reader {
        riparian::Reader<Long> over, under;

        template <class State>
        explicit Reader(const State& in)
            : over(array<"key_over">(in)), under(array<"key_under">(in)) {}
        Ratio one() { return {over.one(), under.one()}; }
    };
};

}  // namespace riparian
