"""Trunks and dispatch rules of LiveKit SIP, from one file: `python -m deploy.sip --help`."""
