"""Stand-ins for model providers: they speak OpenAI's wire format from a local server, offline.

Speech to text is a real recogniser that knows a list of sentences, text to speech is a real voice,
and in place of a language model stands an extractive responder; a realtime model is made of the
three. None of them is a model of the kind it stands in for; the product reaches them only through
its ordinary provider settings.
"""
