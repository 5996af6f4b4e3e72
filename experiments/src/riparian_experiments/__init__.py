"""The experiments of the paper, and studies like them: run, kept, resumed and shown in one way.

mixture, usps, kinect       the three experiments of the paper
consistency, third_stream   the theorem in numbers, and points that trees ignore
study, running, store       a study is a list of independent cells; `run` computes them in several
                            processes and keeps each as soon as it is done, so that a second start
                            continues where the first one stopped
curves, figures, results    rows as curves, figures and tables; `write_all` runs a study and writes them
datasets, download, readers data sets: fetched, found and read
body                        pictures of bodies for `kinect`
cli                         the commands
"""
