// Converts arrays of the core to arrays of numpy, and back.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <array>
#include <bit>
#include <cstdint>
#include <utility>
#include <vector>

#include "space/depth.hpp"

namespace riparian {

namespace nb = nanobind;

template <class T>
using Array1 = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Rows2 = nb::ndarray<const float, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Words = std::vector<std::uint64_t>;

template <class T>
nb::object owned(std::vector<T>&& values) {
    auto* kept = new std::vector<T>(std::move(values));
    const nb::capsule owner(kept, [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
    return nb::ndarray<nb::numpy, T, nb::ndim<1>>(kept->data(), {kept->size()}, owner).cast();
}

template <class T>
nb::object owned(std::vector<T>&& values, std::size_t rows, std::size_t columns) {
    auto* kept = new std::vector<T>(std::move(values));
    const nb::capsule owner(kept, [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
    return nb::ndarray<nb::numpy, T, nb::ndim<2>>(kept->data(), {rows, columns}, owner).cast();
}

// In numpy, offsets are rows of four numbers.
inline nb::object to_array(std::vector<OffsetPair>&& pairs) {
    std::vector<float> numbers;
    for (const OffsetPair& pair : pairs)
        for (const float number : std::bit_cast<std::array<float, 4>>(pair))
            numbers.push_back(number);
    return owned(std::move(numbers), pairs.size(), 4);
}
template <class T>
nb::object to_array(std::vector<T>&& values) {
    return owned(std::move(values));
}

inline void from_array(const nb::handle& array, std::vector<OffsetPair>& pairs) {
    const auto numbers = nb::cast<nb::ndarray<const float, nb::shape<-1, 4>, nb::c_contig>>(array);
    for (std::size_t i = 0; i < numbers.shape(0); ++i) {
        const float* row = numbers.data() + 4 * i;
        pairs.push_back({row[0], row[1], row[2], row[3]});
    }
}
template <class T>
void from_array(const nb::handle& array, std::vector<T>& values) {
    const auto numbers = nb::cast<Array1<T>>(array);
    values.assign(numbers.data(), numbers.data() + numbers.shape(0));
}

}  // namespace riparian
