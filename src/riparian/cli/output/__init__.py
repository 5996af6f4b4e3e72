"""What a person sees, and the files that hold predictions."""
