"""The experiments of the paper, and similar studies, with one way to run, resume and show them.

mixture, usps, kinect       the three experiments of the paper
consistency, third_stream   the theorem in numbers, and points that trees ignore
study, running, store       a study is a list of independent cells; `run` computes them in several
                            processes and stores each as soon as it is done, so that a second start
                            continues where the first one stopped
curves, figures, results    curves, figures and tables of rows; `write_all` runs a study and writes them
datasets, download, readers download, locate and read data sets
body                        pictures of bodies for `kinect`
cli                         the commands
"""
