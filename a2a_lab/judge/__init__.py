"""Judges evidence as a whole: puts the gates of the core behind the readers of the wire, in the order of the flow.

No I/O and no clock: the initiators of `net` use these pieces while a cell runs, and `offline` walks a capture with
them, so that live traffic and recorded evidence are judged by one rule set (R5).
"""
