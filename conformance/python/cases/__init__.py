"""The inputs for the package. Modules in this directory do not import it."""
