"""The commands `riparian experiment` and `riparian data`; `riparian-experiment` has both."""
