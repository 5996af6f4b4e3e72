// Counters that widen as they grow.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <stdexcept>
#include <type_traits>

#include "kernels/hot.hpp"
#include "kernels/kernels.hpp"
#include "memory/pool.hpp"

namespace riparian {

// Counters of one, two, four or eight bytes, as wide as the largest needs, so that they never wrap.
class Counters {
public:
    std::size_t size() const { return size_; }
    std::size_t bytes() const { return std::size_t{size_} * width_; }

    // Calls visitor(counters) with a pointer of the current type of the counters.
    template <class Visitor>
    RIPARIAN_HOT decltype(auto) visit(Visitor&& visitor) const {
        switch (width_) {
            case 1:
                return visitor(as<std::uint8_t>());
            case 2:
                return visitor(as<std::uint16_t>());
            case 4:
                return visitor(as<std::uint32_t>());
            default:
                return visitor(as<std::uint64_t>());
        }
    }

    // Returns all counters, if they have one byte each.
    const std::uint8_t* in_bytes() const { return width_ == 1 ? as<std::uint8_t>() : nullptr; }
    std::uint8_t* in_bytes() { return width_ == 1 ? as<std::uint8_t>() : nullptr; }

    void prefetch() const { riparian::prefetch(data_); }
    void prefetch(std::size_t first, std::size_t count) const {
        riparian::prefetch(as<std::byte>() + first * width_, count * width_);
    }

    void allocate(Pool& pool, std::size_t n) {
        size_ = narrow(n);
        width_ = 1;
        data_ = pool.allocate(bytes());
        clear();
    }

    void release(Pool& pool) {
        if (data_) pool.release(data_, bytes());
        *this = {};
    }

    // Moves the counters to another pool, since the old one is about to be freed.
    void move_to(Pool& pool) {
        if (!data_) return;
        void* moved = pool.allocate(bytes());
        std::memcpy(moved, data_, bytes());
        data_ = moved;
    }

    // Makes the counters wide enough for `bound`.
    void fit(Pool& pool, std::uint64_t bound) {
        if (bound > limit()) [[unlikely]]
            widen(pool, bound);
    }

    // Adds counters at the end, with the value 0.
    void extend(Pool& pool, std::size_t n) {
        Counters longer;
        longer.size_ = narrow(n);
        longer.width_ = width_;
        longer.data_ = pool.allocate(longer.bytes());
        std::memcpy(longer.data_, data_, bytes());
        std::memset(static_cast<std::byte*>(longer.data_) + bytes(), 0, longer.bytes() - bytes());
        release(pool);
        *this = longer;
    }

    RIPARIAN_HOT std::uint64_t operator[](std::size_t i) const {
        return visit([i](const auto* counters) -> std::uint64_t { return counters[i]; });
    }

    // Adds n to counter i and returns the sum. Most are small.
    RIPARIAN_HOT std::uint64_t add(Pool& pool, std::size_t i, std::uint64_t n) {
        if (width_ == 1 && as<std::uint8_t>()[i] + n <= most_of_byte) [[likely]]
            return as<std::uint8_t>()[i] = static_cast<std::uint8_t>(as<std::uint8_t>()[i] + n);
        return add_much(pool, i, n);
    }

    // Sets counter i to counts[i]; none is above the largest.
    void set(Pool& pool, const std::uint64_t* counts, std::uint64_t largest) {
        fit(pool, largest);
        visit([&](auto* counters) {
            using Count = std::remove_reference_t<decltype(counters[0])>;
            for (std::size_t i = 0; i < size_; ++i) counters[i] = static_cast<Count>(counts[i]);
        });
    }

    // Adds amounts[i] to counter first+i for i < count. The sums must fit.
    template <class Amount>
    void add_all(std::size_t first, const Amount* amounts, std::size_t count) {
        visit([&](auto* counters) {
            using Count = std::remove_reference_t<decltype(counters[0])>;
            for (std::size_t i = 0; i < count; ++i)
                counters[first + i] = static_cast<Count>(counters[first + i] + amounts[i]);
        });
    }

    // Adds n to counter first+i where bit i is set, for i < count, a multiple of 8. No counter is
    // above the one at `largest`, which grows, too.
    RIPARIAN_HOT void add_bits(Pool& pool, std::size_t first, const std::uint64_t* bits,
                               std::size_t count, std::uint64_t n, std::size_t largest) {
        if (width_ == 1 && as<std::uint8_t>()[largest] + n <= most_of_byte) [[likely]]
            return kernels().add8(as<std::uint8_t>() + first, bits, count, n);
        fit(pool, (*this)[largest] + n);
        add_bits(first, bits, count, n);
    }
    // The sums must fit.
    void add_bits(std::size_t first, const std::uint64_t* bits, std::size_t count,
                  std::uint64_t n) {
        const Kernels& kernel = kernels();
        switch (width_) {
            case 1:
                return kernel.add8(as<std::uint8_t>() + first, bits, count, n);
            case 2:
                return kernel.add16(as<std::uint16_t>() + first, bits, count, n);
            case 4:
                return kernel.add32(as<std::uint32_t>() + first, bits, count, n);
            default:
                return kernel.add64(as<std::uint64_t>() + first, bits, count, n);
        }
    }

    // Sets counter i, which is 0, to the number of points that have bit i set. A point has `words`
    // words.
    void count_bits(Pool& pool, const std::uint64_t* bits, std::size_t words, std::size_t points) {
        fit(pool, points);
        if (width_ == 1) return kernels().count8(as<std::uint8_t>(), bits, words, points, size_);
        for (std::size_t p = 0; p < points; ++p) add_bits(0, bits + p * words, size_, 1);
    }

private:
    static constexpr std::uint64_t most_of_byte = 0xFF;

    // Blocks are multiples of 16 bytes, and most have one or two of these.
    void clear() {
        const std::size_t block = Pool::block_size(bytes());
        if (block > 32) {
            std::memset(data_, 0, block);
            return;
        }
        std::memset(data_, 0, 16);
        std::memset(static_cast<std::byte*>(data_) + (block - 16), 0, 16);
    }

    RIPARIAN_COLD std::uint64_t add_much(Pool& pool, std::size_t i, std::uint64_t n) {
        const std::uint64_t count = (*this)[i] + n;
        fit(pool, count);
        visit([i, count](auto* counters) {
            counters[i] = static_cast<std::remove_reference_t<decltype(counters[i])>>(count);
        });
        return count;
    }

    static std::uint32_t narrow(std::size_t n) {
        if (n > std::numeric_limits<std::uint32_t>::max())
            throw std::length_error("a leaf of this many candidates and classes is too large");
        return static_cast<std::uint32_t>(n);
    }

    template <class Count>
    Count* as() const {
        return static_cast<Count*>(data_);
    }

    std::uint64_t limit() const {
        return width_ == 8 ? std::numeric_limits<std::uint64_t>::max()
                           : (std::uint64_t{1} << (8 * width_)) - 1;
    }

    void widen(Pool& pool, std::uint64_t bound) {
        Counters wider = *this;
        while (bound > wider.limit()) wider.width_ = static_cast<std::uint8_t>(2 * wider.width_);
        wider.data_ = pool.allocate(wider.bytes());
        visit([&](const auto* from) {
            wider.visit([&](auto* to) {
                for (std::size_t i = 0; i < size_; ++i)
                    to[i] = static_cast<std::remove_reference_t<decltype(to[i])>>(from[i]);
            });
        });
        release(pool);
        *this = wider;
    }

    void* data_ = nullptr;
    std::uint32_t size_ = 0;
    std::uint8_t width_ = 1;  // bytes of a counter
};

}  // namespace riparian
