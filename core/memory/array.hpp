// An array of plain data that grows in place (see pages.hpp): by a quarter while it is small and by
// a sixteenth afterwards, so that a memory bound also holds during growth. The size of its block
// depends on its length alone, except between `restart` and `trim`.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <new>
#include <stdexcept>
#include <type_traits>
#include <utility>

#include "memory/pages.hpp"

namespace riparian {

template <class T>
class Array {
    static_assert(std::is_trivially_copyable_v<T> && alignof(T) <= alignof(std::max_align_t));

public:
    Array() = default;
    Array(const Array&) = delete;
    Array& operator=(const Array&) = delete;
    ~Array() { clear(); }

    T* data() { return data_; }
    const T* data() const { return data_; }
    T& operator[](std::size_t i) { return data_[i]; }
    const T& operator[](std::size_t i) const { return data_[i]; }
    T* begin() { return data_; }
    T* end() { return data_ + size_; }
    const T* begin() const { return data_; }
    const T* end() const { return data_ + size_; }
    T& back() { return data_[size_ - 1]; }
    std::size_t size() const { return size_; }
    bool empty() const { return size_ == 0; }

    void push_back(const T& value) {
        const T kept = value;  // the value may be in this array
        if (size_ == room_) fit(room(std::size_t{size_} + 1));
        data_[size_++] = kept;
    }
    // Adds a value-initialised element at the end.
    T& emplace_back() {
        if (size_ == room_) fit(room(std::size_t{size_} + 1));
        return *new (data_ + size_++) T{};
    }
    void pop_back() { resize(std::size_t{size_} - 1); }
    void clear() { resize(0); }

    // Makes the array empty and keeps its block, because it is about to grow again. After that,
    // `trim` gives back the unused part.
    void restart() { size_ = 0; }
    void trim() {
        if (room(size_) != room_) fit(room(size_));
    }

    // New elements are value-initialised.
    void resize(std::size_t n) {
        if (room(n) != room_) fit(room(n));
        for (std::size_t i = size_; i < n; ++i) new (data_ + i) T{};
        size_ = static_cast<std::uint32_t>(n);
    }

    // Returns the bytes for n elements.
    static constexpr std::size_t bytes(std::size_t n) { return room(n) * sizeof(T); }
    std::size_t bytes() const { return bytes(size_); }

private:
    static constexpr std::size_t room(std::size_t n) {
        if (n <= 16) return n == 0 ? 0 : std::bit_ceil(n);
        const std::size_t step = std::bit_ceil(n) / (n <= 4096 ? 8 : 32);
        return (n + step - 1) & ~(step - 1);
    }

    void fit(std::size_t places) {
        if (places > std::numeric_limits<std::uint32_t>::max())
            throw std::length_error("an array holds at most 2^32 - 1 elements");
        const std::size_t before = room_ * sizeof(T), after = places * sizeof(T);
        if (after == 0)
            give_back(std::exchange(data_, nullptr), before);
        else
            data_ = static_cast<T*>(data_ ? resize_block(data_, before, after) : take_block(after));
        room_ = static_cast<std::uint32_t>(places);
    }

    T* data_ = nullptr;
    std::uint32_t size_ = 0;
    std::uint32_t room_ = 0;  // elements that fit into the block
};

}  // namespace riparian
