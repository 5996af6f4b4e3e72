// The chunks that pools are cut from. Chunks of a deleted tree are kept for the next one, because
// the system takes a microsecond for every page that it provides, and forests often follow one
// another, as in a search or a cross-validation. Only a few are kept, and none is left once a tree
// needs more than was kept, so a bound on the memory of a forest is a bound on the process.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <vector>

#include "memory/pages.hpp"

namespace riparian {

struct Chunk {
    std::byte* first;
    std::size_t bytes;
    std::size_t touched;  // the first bytes whose pages are in memory
};

class SpareChunks {
public:
    static constexpr std::size_t most = std::size_t{1} << 24;      // bytes in all
    static constexpr std::size_t smallest = std::size_t{1} << 16;  // bytes of a chunk

    // Never destroyed: forests may outlive static objects.
    static SpareChunks& get() {
        static SpareChunks& spares = *new SpareChunks;
        return spares;
    }

    Chunk take(std::size_t bytes) {
        if (const Hold hold(busy_); hold && !spares_.empty()) {
            const auto is_as_large = [=](const Chunk& spare) { return spare.bytes == bytes; };
            const auto spare = std::find_if(spares_.begin(), spares_.end(), is_as_large);
            if (spare != spares_.end()) {
                const Chunk chunk = *spare;
                *spare = spares_.back();
                spares_.pop_back();
                held_ -= bytes;
                return chunk;
            }
            drop_all();
        }
        return {static_cast<std::byte*>(take_block(bytes)), bytes, 0};
    }

    void add(const Chunk& chunk) {
        if (const Hold hold(busy_); hold && held_ + chunk.bytes <= most) {
            spares_.push_back(chunk);
            held_ += chunk.bytes;
        } else {
            give_back(chunk.first, chunk.bytes);
        }
    }

    // Returns all of them to the system.
    void drop() {
        if (const Hold hold(busy_); hold) drop_all();
    }

private:
    // No thread waits: one that finds the list locked allocates from the system. So a fork in the
    // middle does no harm either.
    class Hold {
    public:
        explicit Hold(std::atomic_flag& busy)
            : busy_(busy), held_(!busy.test_and_set(std::memory_order_acquire)) {}
        Hold(const Hold&) = delete;
        Hold& operator=(const Hold&) = delete;
        ~Hold() {
            if (held_) busy_.clear(std::memory_order_release);
        }
        explicit operator bool() const { return held_; }

    private:
        std::atomic_flag& busy_;
        bool held_;
    };

    SpareChunks() { spares_.reserve(most / smallest); }  // adding one cannot fail

    void drop_all() {
        for (const Chunk& spare : spares_) give_back(spare.first, spare.bytes);
        spares_.clear();
        held_ = 0;
    }

    std::atomic_flag busy_;
    std::vector<Chunk> spares_;
    std::size_t held_ = 0;
};

}  // namespace riparian
