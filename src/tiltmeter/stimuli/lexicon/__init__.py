"""Words, their partners and templates, in YAML files."""
