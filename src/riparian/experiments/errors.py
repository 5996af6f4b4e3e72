"""What can go wrong around a study, other than in its computation."""


class DataError(ValueError):
    """A file is missing, or does not hold what it should; the message names it, and the line."""


class StudyError(ValueError):
    """The folder holds something other than what was asked for, so the study cannot go on there."""


class WorkerLost(RuntimeError):
    """A process was killed in the middle of its cell; cells that are done are kept."""


class DownloadError(OSError):
    """A file could not be fetched, or is not the expected one."""
