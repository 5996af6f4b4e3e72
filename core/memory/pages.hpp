// Memory from the system. A large block consists of pages of its own: it is returned when it is not
// needed, it grows without a second copy, and its untouched part costs nothing. So a bound on
// memory holds for the process. Small blocks come from malloc.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <new>

#if defined(__linux__) && !defined(RIPARIAN_SANITIZE)
#include <sys/mman.h>
#define RIPARIAN_PAGES 1
#endif

namespace riparian {

#ifdef RIPARIAN_FAILPOINTS
bool may_allocate();  // a test decides which allocation fails (tests/core/failures.cpp)
#else
constexpr bool may_allocate() { return true; }
#endif

#ifdef RIPARIAN_PAGES
namespace detail {

inline constexpr std::size_t page = 4096, large = std::size_t{1} << 16;

inline std::size_t in_pages(std::size_t bytes) { return (bytes + page - 1) / page * page; }

#ifdef MADV_POPULATE_WRITE
inline constexpr int populate = MADV_POPULATE_WRITE;
#else
inline constexpr int populate = 23;  // headers before Linux 5.14 do not name it
#endif

}  // namespace detail

inline void* take_block(std::size_t bytes) {
    if (!may_allocate()) throw std::bad_alloc();
    void* block = nullptr;
    if (bytes < detail::large) {
        block = std::malloc(bytes);
    } else {
        block = mmap(nullptr, detail::in_pages(bytes), PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (block == MAP_FAILED) block = nullptr;
    }
    if (!block) throw std::bad_alloc();
    return block;
}

inline void give_back(void* block, std::size_t bytes) {
    if (bytes < detail::large)
        std::free(block);
    else
        munmap(block, detail::in_pages(bytes));
}

// Requests the pages of a large block at once, which takes a fraction of the time of a fault for
// each. Where the system cannot do that, each page is provided at its first access.
inline void hand_out(void* pages, std::size_t bytes) { madvise(pages, bytes, detail::populate); }

// Resizes a block, which may move.
inline void* resize_block(void* block, std::size_t before, std::size_t after) {
    if (before >= detail::large && after >= detail::large) {
        if (!may_allocate()) throw std::bad_alloc();
        void* moved =
            mremap(block, detail::in_pages(before), detail::in_pages(after), MREMAP_MAYMOVE);
        if (moved == MAP_FAILED) throw std::bad_alloc();
        return moved;
    }
    void* moved = take_block(after);
    std::memcpy(moved, block, std::min(before, after));
    give_back(block, before);
    return moved;
}
#else
inline void* take_block(std::size_t bytes) {
    if (!may_allocate()) throw std::bad_alloc();
    void* block = std::malloc(bytes);
    if (!block) throw std::bad_alloc();
    return block;
}

inline void give_back(void* block, std::size_t) { std::free(block); }

inline void hand_out(void*, std::size_t) {}

inline void* resize_block(void* block, std::size_t, std::size_t after) {
    if (!may_allocate()) throw std::bad_alloc();
    void* moved = std::realloc(block, after);
    if (!moved) throw std::bad_alloc();
    return moved;
}
#endif

}  // namespace riparian
