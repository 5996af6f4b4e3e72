// R19 for depth images. A kept pixel is its position and a reference to its image. An image is
// copied once for all its pixels, and dropped with the last of them.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "draws.hpp"
#include "kept/kept_points.hpp"
#include "space/depth.hpp"

namespace riparian {

namespace detail {

struct KeptImage {
    std::vector<float> depths;  // in C order
    std::int32_t height, width;
    std::uint64_t fingerprint;  // of the depths
    std::uint64_t pixels = 0;   // how many kept pixels refer to it

    bool is(const Pixel& p, std::uint64_t of_p) const {
        return fingerprint == of_p && height == p.height && width == p.width &&
               std::memcmp(depths.data(), p.image, depths.size() * sizeof(float)) == 0;
    }
};

// It takes four words at a time, since an image has a million bytes and each multiplication waits
// for the one before.
inline std::uint64_t fingerprint(const float* depths, std::size_t n) {
    std::array<std::uint64_t, 4> sums{1, 2, 3, 4};
    std::size_t i = 0;
    for (; i + 8 <= n; i += 8) {
        std::array<std::uint64_t, 4> words;
        std::memcpy(words.data(), depths + i, sizeof words);
        for (std::size_t k = 0; k < 4; ++k)
            sums[k] = (sums[k] ^ words[k]) * golden + (sums[k] >> 32);
    }
    for (; i < n; ++i) sums[0] = fold(sums[0], std::bit_cast<std::uint32_t>(depths[i]));
    return key(sums[0], sums[1], sums[2], sums[3]);
}

template <class Label>
struct PixelSegment : Labelled<Label> {
    std::array<Pixel, segment_points> pixels;  // whose images are the kept ones
    std::array<KeptImage*, segment_points> images;

    std::size_t bytes() const { return sizeof *this + this->heap_bytes(); }
};

}  // namespace detail

// The kept pixels in order of time, and their images, as the arrays of a snapshot.
template <class Label>
struct KeptPixels {
    struct Image {
        std::int32_t height, width;
        std::vector<float> depths;
    };

    std::uint64_t first_t = 0;         // the number of the first
    float far = 0;                     // the depth of what lies outside
    std::vector<Image> images;         // in order of their first pixels
    std::vector<std::int32_t> pixels;  // image, row and column of each
    std::vector<Label> labels;
    std::vector<double> weights;  // empty: all 1
};

template <class Label>
class KeptPoints<DepthDifferences, Label> : public KeptStream<detail::PixelSegment<Label>, Label> {
    using Segment = detail::PixelSegment<Label>;
    using Base = KeptStream<Segment, Label>;
    using Base::end_;
    using Base::segments_;

public:
    using State = KeptPixels<Label>;
    static constexpr bool in_rows = false;
    // Its place, its label and its reference to the image.
    static constexpr std::size_t pixel_bytes = 64;

    explicit KeptPoints(std::uint64_t size) : Base(size) {}
    template <class Settings>
    KeptPoints(const Settings& settings, const DepthDifferences&)
        : KeptPoints(settings.kept_points) {}

    void widen(const DepthDifferences&) {}  // there are no columns
    void draw_values(std::uint32_t, std::span<const std::uint64_t>, std::vector<float>&) const {}

    // Adds the points first_t, first_t + 1, ..., which follow those already stored. If `weights` is
    // null, all weights are 1.
    void add(const Pixels& batch, const Label* labels, const double* weights,
             std::uint64_t first_t) {
        std::unordered_map<const float*, detail::KeptImage*> of_batch;  // as the batch has them
        add_pixels(batch.size(), labels, weights, first_t, [&](std::size_t i) {
            const Pixel p = batch.point(i);
            detail::KeptImage*& image = of_batch[p.image];
            if (!image) image = keep(p);
            return std::pair(p, image);
        });
    }

    float value(const OffsetPair& pair, std::uint64_t t) const {
        return depth_difference(pair, pixel(t));
    }

    // Sets out[d * stride + i] to the value of point ts[i] for pair d. All pairs of an image are
    // read while the image is in the cache.
    void values(std::span<const OffsetPair> pairs, std::span<const std::uint64_t> ts, float* out,
                std::size_t stride) const {
        std::array<float, 64> some;
        for (std::size_t i = 0; i < ts.size(); ++i)
            for (std::size_t d = 0; d < pairs.size(); d += some.size()) {
                const std::size_t n = std::min(some.size(), pairs.size() - d);
                DepthDifferences::project(pairs.data() + d, n, pixel(ts[i]), some.data());
                for (std::size_t k = 0; k < n; ++k) out[(d + k) * stride + i] = some[k];
            }
    }

    void project(std::span<const OffsetPair> pairs, std::uint64_t t, float* out) const {
        DepthDifferences::project(pairs.data(), pairs.size(), pixel(t), out);
    }
    void prefetch(std::uint64_t t) const { this->prefetch_label(t); }

    // The bytes of the pixels and their images. They depend only on what is kept.
    std::size_t bytes() const {
        std::size_t sum = (end_ - this->first_kept()) * pixel_bytes;
        std::unordered_set<const detail::KeptImage*> images;
        for (std::uint64_t t = this->first_kept(); t < end_; ++t)
            if (const detail::KeptImage* image = image_of(t); images.insert(image).second)
                sum += image->depths.size() * sizeof(float);
        return sum;
    }

    std::size_t n_images() const { return images_.size(); }

    KeptPixels<Label> save() const {
        KeptPixels<Label> kept;
        kept.first_t = this->first_kept();
        kept.labels = this->kept_labels();
        kept.weights = this->kept_weights();
        std::unordered_map<const detail::KeptImage*, std::int32_t> place;
        for (std::uint64_t t = kept.first_t; t < end_; ++t) {
            const Pixel& p = pixel(t);
            const detail::KeptImage* image = image_of(t);
            const auto [at, is_new] =
                place.try_emplace(image, static_cast<std::int32_t>(kept.images.size()));
            if (is_new) kept.images.push_back({image->height, image->width, image->depths});
            kept.pixels.insert(kept.pixels.end(), {at->second, p.row, p.column});
            kept.far = p.far;
        }
        return kept;
    }

    // Only for a store without points.
    void restore(const KeptPixels<Label>& kept) {
        std::vector<detail::KeptImage*> images(kept.images.size());
        add_pixels(kept.labels.size(), kept.labels.data(),
                   kept.weights.empty() ? nullptr : kept.weights.data(), kept.first_t,
                   [&](std::size_t i) {
                       const std::int32_t* place = kept.pixels.data() + 3 * i;
                       const auto number = static_cast<std::size_t>(place[0]);
                       const typename KeptPixels<Label>::Image& from = kept.images[number];
                       const Pixel p = Pixels(from.depths.data(), from.height, from.width,
                                              std::array{0, place[1], place[2]}.data(), 1, kept.far)
                                           .point(0);
                       if (!images[number]) images[number] = keep(p);
                       return std::pair(p, images[number]);
                   });
    }

private:
    const Pixel& pixel(std::uint64_t t) const { return segments_.of(t).pixels[t % segment_points]; }
    detail::KeptImage* image_of(std::uint64_t t) const {
        return segments_.of(t).images[t % segment_points];
    }

    // `at(i)` returns the i-th pixel and its kept image.
    template <class At>
    void add_pixels(std::size_t n, const Label* labels, const double* weights,
                    std::uint64_t first_t, At&& at) {
        this->add_block(
            n, labels, weights, first_t, [&](std::uint64_t t) { let_go(image_of(t)); },
            [&](Segment& segment, std::size_t row, std::size_t i) {
                auto [p, image] = at(i);
                p.image = image->depths.data();
                segment.pixels[row] = p;
                segment.images[row] = image;
                ++image->pixels;
            });
    }

    // Returns the kept image of p, which may be from an earlier block, or else a new copy.
    detail::KeptImage* keep(const Pixel& p) {
        const std::size_t n =
            static_cast<std::size_t>(p.height) * static_cast<std::size_t>(p.width);
        const std::uint64_t fingerprint = detail::fingerprint(p.image, n);
        const auto [first, last] = images_.equal_range(fingerprint);
        for (auto at = first; at != last; ++at)
            if (at->second->is(p, fingerprint)) return at->second.get();
        auto image = std::make_unique<detail::KeptImage>(detail::KeptImage{
            std::vector<float>(p.image, p.image + n), p.height, p.width, fingerprint});
        return images_.emplace(fingerprint, std::move(image))->second.get();
    }

    void let_go(detail::KeptImage* image) {
        if (--image->pixels > 0) return;
        const auto [first, last] = images_.equal_range(image->fingerprint);
        images_.erase(std::find_if(first, last,
                                   [&](const auto& kept) { return kept.second.get() == image; }));
    }

    std::unordered_multimap<std::uint64_t, std::unique_ptr<detail::KeptImage>> images_;
};

}  // namespace riparian
