"""Preset video: an HLS stream of several bitrates, played by GStreamer."""
