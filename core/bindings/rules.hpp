// Each function adds a rule to the module: its settings, and a forest of it for every space.
#pragma once

#include <nanobind/nanobind.h>

namespace riparian {

void bind_two_streams(nanobind::module_& m);
void bind_keeping(nanobind::module_& m);
void bind_eager(nanobind::module_& m);
void bind_adaptive(nanobind::module_& m);
void bind_one_stream(nanobind::module_& m);

}  // namespace riparian
