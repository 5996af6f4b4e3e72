"""What cannot even be imported here is not collected: CapyMOA needs Java."""

import shutil

collect_ignore = [] if shutil.which("java") else ["src/riparian/capymoa.py"]
