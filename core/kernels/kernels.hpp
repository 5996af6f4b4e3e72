// The loops over the candidates of a leaf, compiled once for each instruction set; the best that
// the machine has is picked when the module is loaded. All of them give the same bits.
#pragma once

#include <cstddef>
#include <cstdint>

#include "counts/candidate.hpp"
#include "space/pixel.hpp"

#if defined(RIPARIAN_X86) && defined(_MSC_VER)
#include <intrin.h>
#endif

namespace riparian {

// R11: a share of 1. Shares are whole numbers of this unit, so that sums do not depend on their
// order.
inline constexpr std::int64_t whole_share = std::int64_t{1} << 40;

struct Kernels {
    const char* name;

    // Bit d*m+j of `bits` says whether value d is <= threshold d*m+j, for d < dims and j < m.
    // Thresholds are readable for 16 floats more than there are; bits past the last are zero.
    void (*left_bits)(const float* values, std::size_t dims, std::size_t m, const float* thresholds,
                      std::uint64_t* bits);

    // The same where some dimensions are categorical (R22): the top bit of feature d says that
    // value d must be equal to a threshold.
    void (*mixed_bits)(const float* values, const std::uint32_t* features, std::size_t dims,
                       std::size_t m, const float* thresholds, std::uint64_t* bits);

    // The same where value d is at place features[d] of a row, not counting the top bit.
    void (*row_bits)(const float* row, const std::uint32_t* columns, std::size_t dims,
                     std::size_t m, const float* thresholds, std::uint64_t* bits);
    void (*mixed_row_bits)(const float* row, const std::uint32_t* features, std::size_t dims,
                           std::size_t m, const float* thresholds, std::uint64_t* bits);

    // The same of several rows, a word for each, with the bits of `everyone`: m <= 16, and all bits
    // fit. Rows are readable, and words writable, up to a multiple of 4.
    void (*rows_bits)(const float* const* rows, std::size_t n, const std::uint32_t* columns,
                      std::size_t dims, std::size_t m, const float* thresholds,
                      std::uint64_t everyone, std::uint64_t* bits);

    // Bits as of `row_bits`, of a row that becomes a split point: value d becomes threshold d*m+n
    // before it is compared. m <= 16, and no value is left of the thresholds from n on.
    void (*split_point_bits)(const float* row, const std::uint32_t* columns, std::size_t dims,
                             std::size_t m, std::size_t n, float* thresholds, std::uint64_t* bits);

    // counters[i] += weight where bit i is set, i < n, n a multiple of 8. No counter overflows.
    void (*add8)(std::uint8_t* counters, const std::uint64_t* bits, std::size_t n,
                 std::uint64_t weight);
    void (*add16)(std::uint16_t* counters, const std::uint64_t* bits, std::size_t n,
                  std::uint64_t weight);
    void (*add32)(std::uint32_t* counters, const std::uint64_t* bits, std::size_t n,
                  std::uint64_t weight);
    void (*add64)(std::uint64_t* counters, const std::uint64_t* bits, std::size_t n,
                  std::uint64_t weight);

    // counters[i] = how many of up to 255 points have bit i set, i < n, n a multiple of 8; `words`
    // words to a point.
    void (*count8)(std::uint8_t* counters, const std::uint64_t* bits, std::size_t words,
                   std::size_t points, std::size_t n);

    // By label: counter i of row labels[p] += bit i of point p, i < n, the counters of a row. None
    // overflows.
    void (*count_rows8)(std::uint8_t* rows, std::size_t n, const std::uint64_t* bits,
                        std::size_t words, const std::uint32_t* labels, std::size_t points);

    // A structure point of a leaf that has seen few (see split/entropy_sums.hpp): no count is above
    // 63, and m and n are at most 16. With k(c) = c[i] where bit i is set, else c[dims*m+j] - c[i],
    // for i = d*m+j, d < dims and j < n: sums[i] += steps[k(label)] - steps[k(all)], and
    // sums[dims*m+j] += steps[all[dims*m+j]] - steps[label[dims*m+j]]. largest[j] = the largest of
    // sums[d*m+j], as signed, and sums[dims*m+j] together. `largest` has room for 16.
    void (*follow_few)(std::uint64_t* sums, const std::uint8_t* label, const std::uint8_t* all,
                       const std::uint64_t* bits, std::size_t dims, std::size_t m, std::size_t n,
                       const std::uint32_t* steps, std::int64_t* largest);

    // The terms of few points, with the same i, j, m and n: sums[i] += terms[c[i]] +
    // terms[c[dims*m+j] - c[i]], and sums[dims*m+j] -= terms[c[dims*m+j]]; or, if `less`, the other
    // way round.
    void (*start_few)(std::uint64_t* sums, const std::uint8_t* c, std::size_t dims, std::size_t m,
                      std::size_t n, const std::uint32_t* terms, bool less);

    // The bounds of a leaf that has seen few points follow one of them (see split/gain_bounds.hpp):
    // ++all[j], and bounds[j] += steps[all[j]] - steps[label[j]] + rounding, j < n <= 16; no count
    // is above 63. What they are then goes to `now` and `all_now` too, which have room for 16.
    void (*grow_few)(std::uint64_t* bounds, std::uint8_t* all, const std::uint8_t* label,
                     std::size_t n, const std::uint32_t* steps, std::uint32_t rounding,
                     std::int64_t* now, std::uint8_t* all_now);
    // Bit j of the result says whether now[j] is at least g_of_point * all_now[j], which is below
    // 2^62, rounded towards 0.
    std::uint32_t (*which_above)(const std::int64_t* now, const std::uint8_t* all_now,
                                 std::size_t n, double g_of_point);

    // The candidates d*m+j, d < dims and j < n <= 16, with at least α points on both sides:
    // left[d*m+j] on the left, the others of left[dims*m+j] on the right. Returns how many; `valid`
    // has room for 8 more than there are in all.
    std::size_t (*find_valid)(const std::uint8_t* left, std::size_t dims, std::size_t m,
                              std::size_t n, std::uint8_t alpha, Candidate* valid);

    // G (R14) of n candidates into g[number] from up to 64 points, and N of their split points into
    // points_met[split_point]. Of each point, bit i of its `words` words says whether it is left of
    // candidate i, and bit everyone+j whether it has met split point j; words are readable up to a
    // multiple of 8 points. Bit p of labels[k], k < n_labels, says whether point p has this label.
    // terms[n] is F(n).
    void (*sum_kept)(const std::uint64_t* bits, std::size_t words, std::size_t points,
                     const std::uint64_t* labels, std::size_t n_labels, const Candidate* candidates,
                     std::size_t n, std::size_t everyone, const std::uint64_t* terms,
                     std::uint64_t* g, std::uint64_t* points_met);

    // The best split of a leaf that has seen few points (R6, R9), m <= 16 split points to a
    // dimension, n so far. Each label has a row of counters, left[i] of candidate i = d*m+j, and
    // everyone's at dims*m+j; so have the estimation points, of which a valid candidate has at
    // least alpha on both sides. terms[n] is F(n), n < 64, the most structure points that a
    // candidate has seen. Also, of split point j < m: the largest G, or 0, and how many structure
    // points it has seen.
    BestOfFew (*best_of_few)(const std::uint8_t* const* rows, std::size_t n_rows,
                             const std::uint8_t* estimation, std::size_t dims, std::size_t m,
                             std::size_t n, std::uint32_t alpha, const std::uint32_t* terms,
                             std::int64_t* largest, std::uint64_t* points);

    // sums[k] += the share counts[k] / total in units of 2^-40, rounded half to even (R11), k < n.
    void (*shares8)(std::int64_t* sums, const std::uint8_t* counts, std::size_t n, double total);
    void (*shares16)(std::int64_t* sums, const std::uint16_t* counts, std::size_t n, double total);
    void (*shares32)(std::int64_t* sums, const std::uint32_t* counts, std::size_t n, double total);
    void (*shares64)(std::int64_t* sums, const std::uint64_t* counts, std::size_t n, double total);

    // The same times a weight, in units of 2^-28 (R25).
    void (*mixed_shares8)(std::int64_t* sums, const std::uint8_t* counts, std::size_t n,
                          double total, double weight);
    void (*mixed_shares16)(std::int64_t* sums, const std::uint16_t* counts, std::size_t n,
                           double total, double weight);
    void (*mixed_shares32)(std::int64_t* sums, const std::uint32_t* counts, std::size_t n,
                           double total, double weight);
    void (*mixed_shares64)(std::int64_t* sums, const std::uint64_t* counts, std::size_t n,
                           double total, double weight);

    // sums[i * width + k] += table[places[i] * width + k], i < n and k < width, a multiple of 4.
    void (*add_rows)(std::int64_t* sums, const std::int64_t* table, const std::uint32_t* places,
                     std::size_t n, std::size_t width);

    // keys[d * stride + i] = the key of value d of row i (see keys.hpp), i < rows and d < columns.
    void (*keys)(const float* values, std::size_t rows, std::size_t columns, std::uint32_t* keys,
                 std::size_t stride);

    // values[d] = the difference of depths at the two places of pair d, d < n (R16).
    void (*depth_differences)(const Pixel& p, const OffsetPair* pairs, std::size_t n,
                              float* values);

    // The loops of a look (R20). Values and thresholds are readable up to a multiple of 16;
    // thresholds are NaN past the last, and so are the values of `left_words`. A value is left of a
    // threshold if it is <= it or, where `equal` says so, equal to it (R22).

    // How many of n values are left of the threshold. They are NaN past the last, up to a multiple
    // of 16.
    std::size_t (*count_left)(const float* values, std::size_t n, float threshold, bool equal);

    // Of m thresholds, those that are not NaN, as their numbers. Of equal ones, at least the last
    // is kept. Returns how many; `last` has room for m.
    std::size_t (*last_of_equals)(const float* thresholds, std::size_t m, std::uint32_t* last);

    // sums[j], with the value at split_points[j] as a threshold, j < m: with c the number of values
    // that are left of it and have their bit set in mask k, of ceil(n / 64) words, the sum of
    // terms[starts[k] + c] over k < n_masks, less that of one more mask. n is at most 256. Of
    // equal thresholds, at least the last has its sum. Returns the j of the largest sum, taken as
    // signed; the last of equals.
    std::size_t (*sum_terms)(const float* values, std::size_t n, const std::uint32_t* split_points,
                             std::size_t m, const std::uint64_t* masks, std::size_t n_masks,
                             const std::uint64_t* terms, const std::uint32_t* starts, bool equal,
                             std::uint64_t* sums);

    // The split of n <= 256 points with the largest such sum, taken as signed, among those with at
    // least `least` > 0 of the points on either side. Terms are cut to 32 bits, which the largest
    // sum fits, and readable up to 64 from each start on. Values of dimension d begin at d *
    // stride, and the last mask is that of all points. Of equal sums: that of the last split point,
    // and then of the last dimension.
    BestOfPoints (*best_of_points)(const float* values, std::size_t stride, std::size_t dims,
                                   std::size_t n, const std::uint32_t* split_points, std::size_t m,
                                   const std::uint64_t* masks, std::size_t n_masks,
                                   const std::uint32_t* terms, const std::uint32_t* starts,
                                   std::size_t least);

    // The same for n < 2^16 points. They are given in order of their classes, which end at `ends`;
    // points past the last of these count only as points of a side. terms[c], c <= n, is what c
    // points of a class on one side add to the sum, or all points of a side take away.
    BestOfPoints (*best_of_many_points)(const float* values, std::size_t stride, std::size_t dims,
                                        std::size_t n, const std::uint32_t* split_points,
                                        std::size_t m, const std::uint16_t* order,
                                        const std::uint32_t* ends, std::size_t n_classes,
                                        const std::uint64_t* terms, std::size_t least);

    // sums[j] = the sum of numbers[i] over the values that are left of thresholds[j], in order, and
    // points[j] = how many they are, j < m; n values. Thresholds are NaN past the last, and sums
    // and points have room, up to a multiple of 16.
    void (*sum_left)(const float* values, std::size_t n, const float* thresholds, std::size_t m,
                     bool equal, const double* numbers, double* sums, double* points);

    // saved[j] = what a split saves of the squared error (see target/numbers/counts.hpp), j < m.
    void (*saved_errors)(double n, double sum, const double* left_n, const double* left_sums,
                         std::size_t m, double* saved);

    // The split of n points that saves the most, given the numbers of all points and their sum,
    // among those with at least `least` > 0 of the points on either side. Values of dimension d
    // begin at d * stride. Of those that save the same: that of the last split point, and then of
    // the last dimension.
    BestOfNumbers (*best_of_numbers)(const float* values, std::size_t stride, std::size_t dims,
                                     std::size_t n, const std::uint32_t* split_points,
                                     std::size_t m, const double* numbers, double sum,
                                     std::size_t least);

    // sums[i] += number where bit i is set, i < n, a multiple of 8.
    void (*add_doubles)(double* sums, const std::uint64_t* bits, std::size_t n, double number);

    // counts[j] = how many of n values are left of thresholds[j], j < m; and which: the bits of row
    // j of `words`, ceil(n / 64) to a row.
    void (*left_words)(const float* values, std::size_t n, const float* thresholds, std::size_t m,
                       bool equal, std::uint64_t* words, std::uint32_t* counts);

    // counts[k] = how many bits are set in both `left` and the k-th of n_masks masks of `words`
    // words.
    void (*count_both)(const std::uint64_t* left, const std::uint64_t* masks, std::size_t words,
                       std::size_t n_masks, std::uint32_t* counts);

    // places[i] = how many of m thresholds value i is not <= to. Room for a multiple of 16.
    void (*places_among)(const float* values, std::size_t n, const float* thresholds, std::size_t m,
                         std::uint32_t* places);
};

extern const Kernels baseline_kernels;
#ifdef RIPARIAN_X86
extern const Kernels avx2_kernels;
extern const Kernels avx512_kernels;
#endif

namespace detail {

#ifdef RIPARIAN_X86
// What the processor has, and the system saves when it changes threads.
struct Processor {
    bool avx2 = false, avx512 = false;

    Processor() {
#if defined(_MSC_VER)
        int one[4], seven[4];  // eax, ebx, ecx, edx
        __cpuid(one, 1);
        __cpuidex(seven, 7, 0);
        const auto has = [](int word, int bit) { return (word >> bit & 1) != 0; };
        const auto saved = has(one[2], 27) ? _xgetbv(0) : 0;
        avx2 = (saved & 0x6) == 0x6 && has(seven[1], 5) && has(one[2], 12);
        avx512 = avx2 && (saved & 0xE6) == 0xE6 && has(seven[1], 16) && has(seven[1], 17) &&
                 has(seven[1], 30) && has(seven[1], 31);
#else
        __builtin_cpu_init();
        avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
        avx512 = avx2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                 __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq");
#endif
    }
};
#endif

inline const Kernels* best_kernels() {
#ifdef RIPARIAN_X86
    const Processor processor;
    if (processor.avx512) return &avx512_kernels;
    if (processor.avx2) return &avx2_kernels;
#endif
    return &baseline_kernels;
}

inline const Kernels* chosen_kernels = best_kernels();

}  // namespace detail

inline const Kernels& kernels() { return *detail::chosen_kernels; }

}  // namespace riparian
