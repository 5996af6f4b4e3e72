// Compiled once for each instruction set, with RIPARIAN_KERNELS naming it. No header is included
// whose code others could share: the linker would be free to keep the copy the oldest machine
// cannot run.
#include "kernels/kernels.hpp"

#include "kernels/best_of_points.hpp"
#include "kernels/counting.hpp"
#include "kernels/depth_differences.hpp"
#include "kernels/few_points.hpp"
#include "kernels/keys_of_rows.hpp"
#include "kernels/looks.hpp"
#include "kernels/saved.hpp"
#include "kernels/shares.hpp"
#include "kernels/sides.hpp"
#include "kernels/sums.hpp"

#define RIPARIAN_JOIN_(a, b) a##b
#define RIPARIAN_JOIN(a, b) RIPARIAN_JOIN_(a, b)
#define RIPARIAN_NAME_(a) #a
#define RIPARIAN_NAME(a) RIPARIAN_NAME_(a)

namespace riparian {

extern const Kernels RIPARIAN_JOIN(RIPARIAN_KERNELS, _kernels);
const Kernels RIPARIAN_JOIN(RIPARIAN_KERNELS, _kernels) = {
    RIPARIAN_NAME(RIPARIAN_KERNELS),
    left_bits,
    mixed_bits,
    row_bits,
    mixed_row_bits,
    rows_bits,
    split_point_bits,
    add8,
    add16,
    add32,
    add<std::uint64_t>,
    count8,
    count_rows8,
    follow_few,
    start_few,
    grow_few,
    which_above,
    find_valid,
    sum_kept,
    best_of_few,
    shares<std::uint8_t>,
    shares<std::uint16_t>,
    shares<std::uint32_t>,
    shares<std::uint64_t>,
    mixed_shares<std::uint8_t>,
    mixed_shares<std::uint16_t>,
    mixed_shares<std::uint32_t>,
    mixed_shares<std::uint64_t>,
    add_rows,
    keys,
    depth_differences,
    count_left,
    last_of_equals,
    sum_terms,
    best_of_points,
    best_of_many_points,
    sum_left,
    saved_errors,
    best_of_numbers,
    add_doubles,
    left_words,
    count_both,
    places_among,
};

}  // namespace riparian
