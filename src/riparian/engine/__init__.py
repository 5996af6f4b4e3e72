"""The engine: the core driven from Python, and the draws that both engines share."""
