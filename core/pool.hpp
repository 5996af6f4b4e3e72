// Memory for the leaves of one tree: blocks of a few sizes, cut from large chunks and used again,
// so that the hot path asks the system for nothing. A tree is worked on by one thread at a time.
#pragma once

#include <bit>
#include <cstddef>
#include <cstring>
#include <memory>
#include <new>
#include <vector>

namespace riparian {

// Ask for the cache lines of something that will be needed soon.
inline void prefetch(const void* first, std::size_t bytes = 1) {
#if defined(__GNUC__)
    const auto* byte = static_cast<const std::byte*>(first);
    for (std::size_t at = 0; at < bytes; at += 64) __builtin_prefetch(byte + at);
#else
    (void)first, (void)bytes;
#endif
}

class Pool {
public:
    Pool() = default;
    Pool(const Pool&) = delete;
    Pool& operator=(const Pool&) = delete;
    ~Pool() {
        for (auto& block : large_) ::operator delete(block);
    }

    void* allocate(std::size_t bytes) {
        const std::size_t size = block_size(bytes);
        live_ += size;
        if (size > largest_pooled) return allocate_large(size);
        auto& free = free_[size_class(size)];
        if (free) {
            void* block = free;
            std::memcpy(&free, block, sizeof free);
            return block;
        }
        return cut(size);
    }

    void release(void* block, std::size_t bytes) {
        if (!block) return;
        const std::size_t size = block_size(bytes);
        live_ -= size;
        if (size > largest_pooled) return release_large(block);
        auto& free = free_[size_class(size)];
        std::memcpy(block, &free, sizeof free);
        free = block;
    }

    template <class T>
    T* allocate_array(std::size_t n) {
        return static_cast<T*>(allocate(n * sizeof(T)));
    }

    template <class T>
    void release_array(T* array, std::size_t n) {
        release(array, n * sizeof(T));
    }

    // Bytes in blocks that are in use, a function of what the tree holds.
    std::size_t live() const { return live_; }

    // A block of at least this many bytes: multiples of 16 up to 256, then four steps a doubling.
    static constexpr std::size_t block_size(std::size_t bytes) {
        if (bytes <= 256) return bytes == 0 ? 16 : (bytes + 15) / 16 * 16;
        const std::size_t step = std::bit_ceil(bytes) / 8;
        return (bytes + step - 1) / step * step;
    }

private:
#ifdef RIPARIAN_SANITIZE
    static constexpr std::size_t largest_pooled = 0;  // every block its own, so overruns are seen
#else
    static constexpr std::size_t largest_pooled = 32768;
#endif
    static constexpr std::size_t chunk_bytes = 1 << 17;

    static constexpr std::size_t size_class(std::size_t size) {
        if (size <= 256) return size / 16;
        const std::size_t doubling = static_cast<std::size_t>(std::bit_width(size - 1));
        return 17 + (doubling - 9) * 4 + (size * 8 / (std::size_t{1} << doubling) - 5);
    }

    void* cut(std::size_t size) {
        if (left_ < size) {
            chunks_.push_back(std::make_unique_for_overwrite<std::byte[]>(chunk_bytes));
            next_ = chunks_.back().get();
            left_ = chunk_bytes;
        }
        void* block = next_;
        next_ += size;
        left_ -= size;
        return block;
    }

    void* allocate_large(std::size_t size) {
        large_.reserve(large_.size() + 1);
        // The address of a large block's place in the list lies before it: 16 bytes keep alignment.
        auto* base = static_cast<std::byte*>(::operator new(size + 16));
        const std::size_t place = large_.size();
        std::memcpy(base, &place, sizeof place);
        large_.push_back(base);
        return base + 16;
    }

    void release_large(void* block) {
        auto* base = static_cast<std::byte*>(block) - 16;
        std::size_t place;
        std::memcpy(&place, base, sizeof place);
        large_[place] = large_.back();
        std::memcpy(large_[place], &place, sizeof place);
        large_.pop_back();
        ::operator delete(base);
    }

    std::vector<std::unique_ptr<std::byte[]>> chunks_;
    std::vector<std::byte*> large_;  // blocks too large for a chunk, each knowing its place here
    void* free_[64] = {};            // per size class: a list through the blocks themselves
    std::byte* next_ = nullptr;      // what is left of the newest chunk
    std::size_t left_ = 0;
    std::size_t live_ = 0;
};

}  // namespace riparian
