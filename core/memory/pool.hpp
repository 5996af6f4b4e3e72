// Memory for the leaves of one tree: blocks of a few sizes, cut from large chunks and reused, so
// that the hot path needs no system call. One thread at a time works on a tree.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstring>
#include <iterator>
#include <span>
#include <utility>
#include <vector>

#include "kernels/hot.hpp"
#include "memory/chunks.hpp"
#include "memory/pages.hpp"

namespace riparian {

class Pool {
public:
    Pool() = default;
    Pool(const Pool&) = delete;
    Pool& operator=(const Pool&) = delete;
    ~Pool() {
        give_back_chunks(chunks_);
        for (std::byte* block : large_) give_back(block, large_size(block));
    }

    void swap(Pool& other) {
        std::swap(chunks_, other.chunks_);
        std::swap(large_, other.large_);
        std::swap(large_bytes_, other.large_bytes_);
        std::swap(free_, other.free_);
        std::swap(next_, other.next_);
        std::swap(cut_, other.cut_);
        std::swap(live_, other.live_);
    }

    // Gives the chunks to the next tree, because this one is deleted. Its blocks are not used any
    // more.
    void leave_chunks() {
        for (const Chunk& chunk : chunks_) SpareChunks::get().add(chunk);
        chunks_.clear();
    }

    // Starts again from the beginning of the newest chunk, which is the largest. All blocks have
    // been freed, and many will be needed again.
    void restart() {
        std::fill(std::begin(free_), std::end(free_), nullptr);
        cut_ = 0;
        if (chunks_.empty()) return;
        give_back_chunks(std::span(chunks_).first(chunks_.size() - 1));
        chunks_.erase(chunks_.begin(), chunks_.end() - 1);
        next_ = chunks_[0].first;
    }

    void* allocate(std::size_t bytes) {
        const std::size_t size = block_size(bytes);
        live_ += size;
        if (size > largest_pooled) return allocate_large(size);
        auto& free = free_[size_class(size)];
        if (free) {
            void* block = free;
            std::memcpy(&free, block, sizeof free);
            prefetch(free);  // the next block of this size will be read at the next request
            return block;
        }
        return cut(size);
    }

    void release(void* block, std::size_t bytes) {
        if (!block) return;
        const std::size_t size = block_size(bytes);
        live_ -= size;
        if (size > largest_pooled) return release_large(block, size);
        auto& free = free_[size_class(size)];
        std::memcpy(block, &free, sizeof free);
        free = block;
    }

    // Allocates a block that is charged as one of `charged` bytes.
    void* allocate(std::size_t bytes, std::size_t charged) {
        live_ += block_size(charged) - block_size(bytes);
        return allocate(bytes);
    }
    void release(void* block, std::size_t bytes, std::size_t charged) {
        live_ -= block_size(charged) - block_size(bytes);
        release(block, bytes);
    }

    template <class T>
    T* allocate_array(std::size_t n) {
        return static_cast<T*>(allocate(n * sizeof(T)));
    }

    template <class T>
    void release_array(T* array, std::size_t n) {
        release(array, n * sizeof(T));
    }

    // Returns the bytes of the blocks in use, as charged: a function of what the tree holds.
    std::size_t live() const { return live_; }

    // Returns the bytes taken from the system, including blocks that wait to be reused.
    std::size_t held() const { return cut_ + large_bytes_; }

    // Returns the size of a block for at least this many bytes: multiples of 16 up to 256, then
    // four steps per doubling.
    static constexpr std::size_t block_size(std::size_t bytes) {
        if (bytes <= 256) return bytes == 0 ? 16 : (bytes + 15) / 16 * 16;
        const std::size_t step = std::bit_ceil(bytes) / 8;
        return (bytes + step - 1) & ~(step - 1);
    }

private:
#ifdef RIPARIAN_SANITIZE
    // Every block is allocated by itself, so that overruns are detected.
    static constexpr std::size_t largest_pooled = 0;
#else
    static constexpr std::size_t largest_pooled = 32768;
#endif
    static constexpr std::size_t page = 4096;
    // A part that is not cut yet costs nothing, but every chunk has a cost.
    std::size_t chunk_bytes() const {
        return std::bit_floor(std::clamp<std::size_t>(cut_, SpareChunks::smallest, 1 << 24));
    }

    static constexpr std::size_t size_class(std::size_t size) {
        if (size <= 256) return size / 16;
        const std::size_t doubling = static_cast<std::size_t>(std::bit_width(size - 1));
        return 17 + (doubling - 9) * 4 + (size * 8 / (std::size_t{1} << doubling) - 5);
    }

    void* cut(std::size_t size) {
        if (left() < size) {
            chunks_.reserve(chunks_.size() + 1);
            chunks_.push_back(SpareChunks::get().take(chunk_bytes()));
            next_ = chunks_.back().first;
        }
        void* block = next_;
        next_ += size;
        cut_ += size;
        if (next_ > handed_out()) hand_out_more();
        return block;
    }

    // The part of the newest chunk that is left.
    std::size_t left() const {
        if (chunks_.empty()) return 0;
        const Chunk& newest = chunks_.back();
        return newest.bytes - static_cast<std::size_t>(next_ - newest.first);
    }
    // pages up to here are in memory
    std::byte* handed_out() const { return chunks_.back().first + chunks_.back().touched; }

    // Requests a few more pages than are needed: an eighth more, within limits.
    void hand_out_more() {
        const std::size_t ahead = std::min(cut_ / 8, 8 * page);
        const auto needed = static_cast<std::size_t>(next_ - handed_out());
        const std::size_t bytes =
            std::min((needed + ahead + page - 1) / page * page, needed + left());
        hand_out(handed_out(), bytes);
        chunks_.back().touched += bytes;
    }

    static void give_back_chunks(std::span<const Chunk> chunks) {
        for (const Chunk& chunk : chunks) give_back(chunk.first, chunk.bytes);
    }

    void* allocate_large(std::size_t size) {
        // A large block stores its place in the list and its size in front of it.
        const std::size_t header[2] = {large_.size(), size};
        large_.push_back(nullptr);
        try {
            large_.back() = static_cast<std::byte*>(take_block(size + sizeof header));
        } catch (...) {
            large_.pop_back();
            throw;
        }
        std::memcpy(large_.back(), header, sizeof header);
        large_bytes_ += size;
        return large_.back() + sizeof header;
    }

    void release_large(void* block, std::size_t size) {
        auto* base = static_cast<std::byte*>(block) - 2 * sizeof(std::size_t);
        std::size_t place;
        std::memcpy(&place, base, sizeof place);
        large_[place] = large_.back();
        std::memcpy(large_[place], &place, sizeof place);
        large_.pop_back();
        large_bytes_ -= size;
        give_back(base, size + 2 * sizeof(std::size_t));
    }

    static std::size_t large_size(const std::byte* base) {
        std::size_t size;
        std::memcpy(&size, base + sizeof size, sizeof size);
        return size + 2 * sizeof size;
    }

    std::vector<Chunk> chunks_;
    std::size_t large_bytes_ = 0;
    std::vector<std::byte*>
        large_;                  // blocks too large for a chunk; each stores its place in this list
    void* free_[64] = {};        // per size class: a linked list through the free blocks
    std::byte* next_ = nullptr;  // what is left of the newest chunk
    std::size_t cut_ = 0;        // bytes of all blocks cut so far
    std::size_t live_ = 0;       // bytes of blocks in use, as they are charged
};

}  // namespace riparian
