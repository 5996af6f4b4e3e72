#include "bindings/input.hpp"

#include <bit>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "bindings/arrays.hpp"

namespace riparian {
namespace {

using namespace nb::literals;

// R4: a missing value is allowed, an infinity is not.
bool any_infinite(const Rows2& rows) {
    const float* values = rows.data();
    const std::size_t n = rows.size();
    const auto infinity = std::bit_cast<std::uint32_t>(std::numeric_limits<float>::infinity());
    std::uint32_t any = 0;  // as wide as a value, so that compilers vectorise the loop
    for (std::size_t i = 0; i < n; ++i) {
        const std::uint32_t without_sign = std::bit_cast<std::uint32_t>(values[i]) << 1;
        any |= without_sign == infinity << 1 ? 1u : 0u;
    }
    return any;
}

// Returns the number of each label in order of arrival, and the new labels in the order of theirs.
// A label without a number in the table gets the next one. Returns nothing if a label is beyond the
// table.
nb::object arrivals(const Array1<std::int64_t>& y, const Array1<std::uint32_t>& table,
                    std::uint32_t none, std::uint32_t next) {
    const std::size_t n = y.size(), places = table.size();
    const std::int64_t* labels = y.data();
    const std::uint32_t* number_of = table.data();
    std::vector<std::uint32_t> numbers(n), with_new;
    nb::list new_labels;
    for (std::size_t i = 0; i < n; ++i) {
        const auto label = static_cast<std::uint64_t>(labels[i]);
        if (label >= places) return nb::none();
        std::uint32_t number = number_of[label];
        if (number == none) {
            if (with_new.empty()) with_new.assign(number_of, number_of + places);
            number_of = with_new.data();
            with_new[label] = number = next++;
            new_labels.append(label);
        }
        numbers[i] = number;
    }
    return nb::make_tuple(owned(std::move(numbers)), new_labels);
}

}  // namespace

void bind_input(nb::module_& m) {
    m.def("any_infinite", &any_infinite, "rows"_a);
    m.def("arrivals", &arrivals, "y"_a, "table"_a, "none"_a, "next"_a);
}

}  // namespace riparian
