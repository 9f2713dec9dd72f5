"""The tables and figures of the four source texts, measured again."""
