// What is kept after large arrays have come and gone, back to the system: a snapshot is such a
// time, and a bound on memory should be seen from outside as well.
#pragma once

#include <cstdlib>

#include "memory/chunks.hpp"

#ifdef __GLIBC__
#include <malloc.h>
#endif

namespace riparian {

// Where malloc cannot be asked, it decides for itself.
inline void trim() {
    SpareChunks::get().drop();
#ifdef __GLIBC__
    malloc_trim(0);
#endif
}

}  // namespace riparian
