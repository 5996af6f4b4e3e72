"""What commands print, and the files of predictions."""
