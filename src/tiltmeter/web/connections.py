"""Connections of the dashboard: at most so many, and none for someone who never finishes a request."""

from __future__ import annotations

import asyncio
from typing import Any

from uvicorn.protocols.http.h11_impl import H11Protocol

#: Connections that are open at once; far below the file handles that a process usually has.
MOST_CONNECTIONS = 200
#: Seconds in which a request has to arrive whole.
PATIENCE = 10.0


class PatientProtocol(H11Protocol):
    """A connection that ends where its request does not come; one too many ends that which has waited longest.

    Who opens connections and sends nothing takes places from others of that kind: a request that arrives whole, as a
    browser sends it, is never closed for want of room.
    """

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        # In the order of their opening; the server's own set of connections has none.
        self._open: dict[PatientProtocol, None] = vars(self.server_state).setdefault("in_order", {})
        super().connection_made(transport)
        self._open[self] = None
        self._wait()
        if len(self._open) > MOST_CONNECTIONS:
            idle = (other for other in self._open if other.idle)
            next(idle, self)._end()

    def data_received(self, data: bytes) -> None:
        was_idle = self.idle
        super().data_received(data)
        if was_idle and not self.idle:
            self._deadline.cancel()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        if self in self._open:
            self._deadline.cancel()
            self._wait()

    def connection_lost(self, exc: Exception | None) -> None:
        self._open.pop(self, None)
        self._deadline.cancel()
        super().connection_lost(exc)

    @property
    def idle(self) -> bool:
        """Whether no request is here in full, so that nothing would be lost."""
        cycle: Any = self.cycle
        return cycle is None or cycle.response_complete or cycle.more_body

    def _wait(self) -> None:
        self._deadline = self.loop.call_later(PATIENCE, self._expire)

    def _expire(self) -> None:
        if self.idle:
            self._end()

    def _end(self) -> None:
        self._open.pop(self, None)
        self.transport.abort()


__all__ = ["MOST_CONNECTIONS", "PATIENCE", "PatientProtocol"]
