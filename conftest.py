"""What every test can rely on, and what is not collected."""

import shutil
import signal

# Without Java, CapyMOA cannot even be imported.
collect_ignore = [] if shutil.which("java") else ["src/riparian/capymoa.py"]

# A shell starts what runs in the background deaf to interrupts, and every process started from there
# would be too; some tests interrupt theirs.
signal.signal(signal.SIGINT, signal.default_int_handler)
