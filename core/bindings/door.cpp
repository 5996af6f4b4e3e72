#include "bindings/door.hpp"

#include <bit>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "bindings/arrays.hpp"

namespace riparian {
namespace {

using namespace nb::literals;

// R4: a missing value may be there, an infinity may not.
bool any_infinite(const Rows2& rows) {
    const float* values = rows.data();
    const std::size_t n = rows.size();
    const auto infinity = std::bit_cast<std::uint32_t>(std::numeric_limits<float>::infinity());
    std::uint32_t any = 0;  // as wide as a value: compilers make vectors of it
    for (std::size_t i = 0; i < n; ++i) {
        const std::uint32_t without_sign = std::bit_cast<std::uint32_t>(values[i]) << 1;
        any |= without_sign == infinity << 1 ? 1u : 0u;
    }
    return any;
}

// table[y] for each label; nothing, if one of them has no number there.
nb::object numbers_of(const Array1<std::int64_t>& y, const Array1<std::uint32_t>& table,
                      std::uint32_t none) {
    const std::size_t n = y.size(), known = table.size();
    std::vector<std::uint32_t> numbers(n);
    for (std::size_t i = 0; i < n; ++i) {
        const auto label = static_cast<std::uint64_t>(y.data()[i]);
        if (label >= known || table.data()[label] == none) return nb::none();
        numbers[i] = table.data()[label];
    }
    return owned(std::move(numbers));
}

}  // namespace

void bind_door(nb::module_& m) {
    m.def("any_infinite", &any_infinite, "rows"_a);
    m.def("numbers_of", &numbers_of, "y"_a, "table"_a, "none"_a);
}

}  // namespace riparian
