// Converts a tree, and what trees share, to arrays of Python and back.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "bindings/arrays.hpp"
#include "kept/kept_pixels.hpp"
#include "kept/kept_points.hpp"
#include "rules/rule.hpp"
#include "state_fields.hpp"
#include "tree_totals.hpp"

namespace riparian {

inline nb::dict to_dict(const TreeStats& stats) {
    nb::dict d;
    for (const auto& [name, total] : total_names) d[name] = stats.totals.*total;
    for (const auto& [name, size] : size_names) d[name] = stats.sizes.*size;
    for (const auto& [name, stat] : stat_names) d[name] = stats.*stat;
    return d;
}

inline nb::dict to_dict(const TreeSizes& sizes) {
    nb::dict d;
    for (const auto& [name, size] : size_names) d[name] = sizes.*size;
    return d;
}

template <class Space>
nb::dict to_dict(TreeState<Space>&& tree) {
    nb::dict arrays;
    for_each_field(tree, [&](auto& field) {
        arrays[nb::str(field.name.data(), field.name.size())] = to_array(std::move(field.values));
    });
    return arrays;
}

template <class Space>
TreeState<Space> from_dict(const nb::dict& arrays) {
    TreeState<Space> tree;
    for_each_field(tree, [&](auto& field) {
        const nb::str name(field.name.data(), field.name.size());
        // The array is missing if only another kind of forest has it.
        if (arrays.contains(name)) from_array(arrays[name], field.values);
    });
    return tree;
}

// Converts what trees share to arrays and back: nothing, or the kept points (R19). The number of
// the first kept point is the number of points received minus the number of those kept.
inline nb::object to_python(NothingShared::State&&) { return nb::none(); }
inline void from_python(const nb::handle&, std::uint64_t, NothingShared::State&) {}

template <class Label>
nb::object to_python(KeptRows<Label>&& kept) {
    const std::size_t n = kept.labels.size();
    nb::dict arrays;
    if (kept.starts.empty()) {
        arrays["kept_rows"] = owned(std::move(kept.rows), n, kept.columns);
    } else {
        arrays["kept_starts"] = owned(std::move(kept.starts));
        arrays["kept_columns"] = owned(std::move(kept.indices));
        arrays["kept_entries"] = owned(std::move(kept.entries));
        arrays["kept_widths"] = owned(std::move(kept.widths));
    }
    arrays["kept_label"] = owned(std::move(kept.labels));
    arrays["kept_weight"] = owned(std::move(kept.weights));
    return arrays;
}

template <class T>
void take(const nb::dict& arrays, const char* name, std::vector<T>& values) {
    from_array(arrays[name], values);
}

template <class Label>
void from_python(const nb::handle& object, std::uint64_t points, KeptRows<Label>& kept) {
    const auto arrays = nb::cast<nb::dict>(object);
    take(arrays, "kept_label", kept.labels);
    take(arrays, "kept_weight", kept.weights);
    kept.first_t = points - kept.labels.size();
    if (arrays.contains("kept_rows")) {
        const auto rows = nb::cast<Rows2>(arrays["kept_rows"]);
        kept.rows.assign(rows.data(), rows.data() + rows.size());
    } else {
        take(arrays, "kept_starts", kept.starts);
        take(arrays, "kept_columns", kept.indices);
        take(arrays, "kept_entries", kept.entries);
        take(arrays, "kept_widths", kept.widths);
    }
}

template <class Label>
nb::object to_python(KeptPixels<Label>&& kept) {
    std::vector<std::int32_t> shapes;
    std::vector<float> depths;
    for (const auto& image : kept.images) {
        shapes.insert(shapes.end(), {image.height, image.width});
        depths.insert(depths.end(), image.depths.begin(), image.depths.end());
    }
    nb::dict arrays;
    arrays["kept_shapes"] = owned(std::move(shapes), kept.images.size(), 2);
    arrays["kept_depths"] = owned(std::move(depths));
    arrays["kept_pixels"] = owned(std::move(kept.pixels), kept.labels.size(), 3);
    arrays["kept_far"] = owned(std::vector<float>{kept.far});
    arrays["kept_label"] = owned(std::move(kept.labels));
    arrays["kept_weight"] = owned(std::move(kept.weights));
    return arrays;
}

template <class Label>
void from_python(const nb::handle& object, std::uint64_t points, KeptPixels<Label>& kept) {
    using Whole2 = nb::ndarray<const std::int32_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
    const auto arrays = nb::cast<nb::dict>(object);
    take(arrays, "kept_label", kept.labels);
    take(arrays, "kept_weight", kept.weights);
    kept.first_t = points - kept.labels.size();
    const auto pixels = nb::cast<Whole2>(arrays["kept_pixels"]);
    kept.pixels.assign(pixels.data(), pixels.data() + pixels.size());
    std::vector<float> depths, far;
    take(arrays, "kept_depths", depths);
    take(arrays, "kept_far", far);
    kept.far = far.at(0);
    const auto shapes = nb::cast<Whole2>(arrays["kept_shapes"]);
    const float* next = depths.data();
    for (std::size_t i = 0; i < shapes.shape(0); ++i) {
        const std::int32_t height = shapes.data()[2 * i], width = shapes.data()[2 * i + 1];
        const float* first = next;
        next += static_cast<std::size_t>(height) * static_cast<std::size_t>(width);
        kept.images.push_back({height, width, std::vector<float>(first, next)});
    }
}

}  // namespace riparian
