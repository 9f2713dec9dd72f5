"""Chat models, asked in words which of two words fits a blank."""

from tiltmeter.models.chat.model import ChatModel

__all__ = ["ChatModel"]
