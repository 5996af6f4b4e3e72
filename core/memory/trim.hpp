// Returns freed memory to the system after large arrays were used, as by a snapshot, so that a
// bound on memory also holds as seen from outside.
#pragma once

#include <cstdlib>

#include "memory/chunks.hpp"

#ifdef __GLIBC__
#include <malloc.h>
#endif

namespace riparian {

// Without malloc_trim, malloc decides by itself.
inline void trim() {
    SpareChunks::get().drop();
#ifdef __GLIBC__
    malloc_trim(0);
#endif
}

}  // namespace riparian
