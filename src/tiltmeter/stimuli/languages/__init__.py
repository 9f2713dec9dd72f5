"""What tiltmeter knows of a language: one form for each text, its words and sentences, the forms a word takes."""

from tiltmeter.stimuli.languages.language import Language, is_word_character, language, language_codes, script_of

__all__ = ["Language", "is_word_character", "language", "language_codes", "script_of"]
