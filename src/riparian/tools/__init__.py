"""Small tools that several rooms need."""
