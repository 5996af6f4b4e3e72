"""Groups of options that commands share. All are quick to import, because help needs them all."""
