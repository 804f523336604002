"""A stand-in for a realtime model: OpenAI's WebSocket, behind which are the other stand-ins."""
