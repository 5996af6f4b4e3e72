// Every allocation of a forest fails in turn, as in SQLite's tests: while it is made, learns with
// and without answering, gets a column, is rebuilt, predicts, is saved and loaded. After each
// failure the forest is as it was before the block, or every call says that it cannot be used; and
// what is not the forest's own is not lost.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <new>
#include <optional>
#include <string>
#include <vector>

#include "forests.hpp"

using namespace riparian;
using namespace riparian::testing;

namespace {

constexpr std::uint64_t never = unbounded;
std::uint64_t allocations = 0, fails_at = never;

constexpr std::size_t trees = 2, block_points = 40, blocks = 4;
constexpr std::uint32_t kept = 100;  // fewer than there are, so that leaves settle

}  // namespace

bool riparian::may_allocate() { return ++allocations != fails_at; }

void* operator new(std::size_t bytes) {
    void* block = may_allocate() ? std::malloc(bytes ? bytes : 1) : nullptr;
    if (!block) throw std::bad_alloc();
    return block;
}
void operator delete(void* block) noexcept { std::free(block); }
void operator delete(void* block, std::size_t) noexcept { std::free(block); }

namespace {

void require(bool holds, const char* what) {
    if (holds) return;
    std::printf("allocation %llu fails: %s\n", static_cast<unsigned long long>(fails_at), what);
    std::exit(1);
}

// Nothing fails while this exists.
class Safely {
public:
    ~Safely() { fails_at = fails_at_, allocations = allocations_; }
    Safely(const Safely&) = delete;
    Safely() { fails_at = never; }

private:
    std::uint64_t fails_at_ = fails_at, allocations_ = allocations;
};

// Whether the call is made as a whole; if not, an allocation has failed.
template <class Call>
bool succeeds(Call&& call) {
    try {
        call();
        return true;
    } catch (const std::bad_alloc&) {
        return false;
    }
}

template <class Call>
bool is_refused(Call&& call) {
    try {
        call();
        return false;
    } catch (const BrokenForest&) {
        return true;
    }
}

template <class Space, class Rule, class Target>
class Case {
    using Tested = Forest<Space, Rule, Target>;
    using Answers = std::vector<double>;
    struct Saved {
        std::uint64_t points = 0;
        std::vector<TreeState<Space>> trees;
        typename Tested::SharedState shared;
    };

public:
    explicit Case(Extras extras) : extras_(extras) {}

    // How many allocations there are.
    std::uint64_t run(std::uint64_t failing) {
        allocations = 0;
        fails_at = failing;
        std::optional<Tested> made;
        succeeds([&] {
            made.emplace(forest<Space, Rule, Target>(trees, 60000, kept, early_.space(), extras_));
        });
        bool rebuilt = false;
        for (std::size_t i = 0; made && i < blocks; ++i) {
            if (i == 1) widen(*made);
            if (!learns(*made, i)) break;
            rebuilt |= was_rebuilt(*made);
        }
        if (made && made->whole()) {
            require(failing != never || rebuilt, "no tree was rebuilt");
            check_reads(*made);
            check_loads(*made);
        }
        made.reset();
        fails_at = never;
        return allocations;
    }

private:
    typename Tested::Block block(std::size_t i) const {
        const Stream<Space>& stream = i == 0 ? early_ : i < 3 ? stream_ : turned_;
        const bool weighted = extras_ == Extras::weights_and_a_late_column;
        const double* weights = weighted ? stream.weights.data() : nullptr;
        const typename Tested::Block all{stream.batch(), stream.template of<Target>(), weights};
        return all.slice(i * block_points, block_points);
    }

    // The late column comes, if there is one; after a failure, it comes again.
    void widen(Tested& forest) {
        const auto set = [&] { forest.set_space(stream_.space()); };
        if (succeeds(set)) return;
        const Safely safely;
        set();
    }

    // A block is learned as a whole; or the forest is as before, and learns it now; or it is
    // broken. Every other block is answered as well, each point just before it is learned.
    bool learns(Tested& forest, std::size_t i) {
        const Answers before = answers(forest);
        if (i % 2) give_intervals(forest);
        const auto learn = [&] {
            if (i % 2)
                forest.predict_then_learn(block(i), average<Target>, 1, out_.data());
            else
                forest.learn(block(i), 1);
        };
        const bool learned = succeeds(learn);
        const Safely safely;
        const std::size_t given = take_given(forest).size();
        if (learned) {
            require(given == (i % 2 ? block_points * ends_ : 0), "intervals are missing");
            return true;
        }
        if (forest.whole()) {
            require(forest.points() == i * block_points, "part of a block is learned");
            require(answers(forest) == before, "a failed block changes answers");
            forest.learn(block(i), 1);
            return true;
        }
        require(is_refused([&] { forest.points(); }), "a broken forest counts its points");
        require(is_refused([&] { forest.stats(); }), "a broken forest has statistics");
        require(is_refused([&] { forest.learn(block(i), 1); }), "a broken forest learns");
        require(is_refused([&] { answers(forest); }), "a broken forest answers");
        require(is_refused([&] { saved(forest); }), "a broken forest is saved");
        return false;
    }

    void check_reads(Tested& forest) {
        const Answers before = answers(forest);
        Answers now = answers(forest);
        const auto batch = stream_.batch();
        succeeds([&] {
            std::fill_n(now.begin(), stream_.labels.size() * classes, 0.0);
            forest.predict(batch, average<Target>, 1, [&](std::size_t) { return now.data(); });
            require(now == before, "answers differ");
        });
        succeeds([&] { intervals(forest, batch, 1); });
        succeeds([&] {
            std::vector<std::int64_t> nodes(stream_.labels.size() * trees);
            forest.apply(batch, nodes.data());
        });
        succeeds([&] { forest.stats(); });
        require(forest.whole() && answers(forest) == before, "a failed answer changes the forest");
    }

    void check_loads(Tested& forest) {
        std::optional<Saved> state;
        if (!succeeds([&] { state.emplace(saved(forest)); })) state.emplace(safely_saved(forest));
        const auto load = [&] {
            Tested loaded(0, settings<Rule>(trees, 60000, kept, extras_), stream_.space(),
                          state->points, state->trees, state->shared);
            const Safely safely;
            name_classes(loaded);
            require(answers(loaded) == answers(forest), "what was saved answers differently");
        };
        if (succeeds(load)) return;
        const Safely safely;
        load();
    }

    // Whether some tree was, if the rule rebuilds trees.
    static bool was_rebuilt(Tested& forest) {
        bool rebuilt = true;
        if constexpr (std::derived_from<typename Tested::Tree::Record, Growth>) {
            const Safely safely;
            rebuilt = false;
            forest.visit([&](std::uint64_t, const auto& all, const auto&) {
                for (const auto& tree : all) rebuilt |= tree->record().growth > 0;
            });
        }
        return rebuilt;
    }

    static Saved safely_saved(Tested& forest) {
        const Safely safely;
        return saved(forest);
    }
    static Saved saved(Tested& forest) {
        Saved state;
        forest.visit([&](std::uint64_t points, const auto& all, const auto& shared) {
            state.points = points;
            for (const auto& tree : all) state.trees.push_back(tree->save());
            state.shared = shared.save();
        });
        return state;
    }

    Answers answers(Tested& forest) const {
        const Safely safely;
        Answers out(stream_.labels.size() * classes);
        forest.predict(stream_.batch(), average<Target>, 1,
                       [&](std::size_t) { return out.data(); });
        const Answers ends = intervals(forest, stream_.batch(), 1);
        out.insert(out.end(), ends.begin(), ends.end());
        return out;
    }

    Extras extras_;
    // Of the intervals around a point.
    std::size_t ends_ = extras_ == Extras::intervals_that_follow ? 4 : 0;
    Stream<Space> early_ = early<Space>(blocks * block_points, extras_);
    Stream<Space> stream_{blocks * block_points}, turned_{blocks * block_points, true};
    Answers out_ = Answers(block_points * classes);
};

template <class Space, class Rule, class Target = Classes>
void fail_each(const char* name, Extras extras = Extras::none) {
    Case<Space, Rule, Target> tested(extras);
    tested.run(never);  // makes what lasts as long as the process
    const std::uint64_t n = tested.run(never);
    for (std::uint64_t i = 1; i <= n; ++i) tested.run(i);
    std::printf("%s: each of %llu allocations\n", name, static_cast<unsigned long long>(n));
}

}  // namespace

int main() {
    fail_each<Columns, TwoStreams>("paper");
    fail_each<Columns, Keeping>("kept points");
    fail_each<Columns, Eager>("eager");
    fail_each<Columns, Adaptive>("adaptive");
    fail_each<Columns, OneStream>("Saffari");
    fail_each<DepthDifferences, TwoStreams>("depth, paper");
    fail_each<DepthDifferences, Keeping>("depth, kept points");
    fail_each<DepthDifferences, Eager>("depth, eager");
    fail_each<Columns, TwoStreams, Numbers>("numbers, paper");
    fail_each<Columns, Keeping, Numbers>("numbers, kept points");
    fail_each<Columns, Eager, Numbers>("numbers, eager");
    fail_each<Columns, Adaptive, Numbers>("numbers, adaptive");
    const Extras extras = Extras::weights_and_a_late_column;
    fail_each<Columns, Keeping, Numbers>("numbers, kept points, weights, a late column", extras);
    fail_each<Columns, Eager, Numbers>("numbers, eager, weights, a late column", extras);
    fail_each<Columns, Adaptive, Numbers>("numbers, adaptive, weights, a late column", extras);
    const Extras follows = Extras::intervals_that_follow;
    fail_each<Columns, Eager, Numbers>("numbers, eager, intervals that follow", follows);
    fail_each<Columns, Adaptive, Numbers>("numbers, adaptive, intervals that follow", follows);
    std::puts("every failure is survived");
}
