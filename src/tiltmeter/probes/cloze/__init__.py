"""ClozeGender: pronouns at the end of sentences."""
