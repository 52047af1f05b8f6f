"""Streams an AgentScope agent through Recount, and carries answers back to it.

    from recount_forward import Session

    async with Session("http://127.0.0.1:7171", "chat") as session:
        message = await session.forward(agent, UserMsg("Alice", "Hello"))

What the agent says is in the session's log before `forward` returns, whatever
the connection did in between. What people answer there (confirmations, results
of tools that run elsewhere, interrupts) reaches the agent.
"""

from .forwarding import Session
from .service import Problem, Service

__all__ = ["Problem", "Service", "Session"]
