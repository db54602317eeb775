"""Preset call: speech as Opus over RTP, both ways, by GStreamer."""
