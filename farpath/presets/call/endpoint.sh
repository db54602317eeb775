#!/bin/sh
# One end of the call, with a list of GStreamer's plugins that is made anew: client.sh ROLE PEER ...
set -e
work=/tmp/farpath-call-$1
mkdir -p "$work/plugins"
for name in audioconvert audioresample audiotestsrc coreelements opus rtp rtpmanager udp; do
    ln -s /usr/lib/*/gstreamer-1.0/"libgst$name.so" "$work/plugins/"
done
export GST_PLUGIN_SYSTEM_PATH_1_0="$work/plugins" GST_REGISTRY_1_0="$work/registry"
export GST_REGISTRY_FORK=no
exec /usr/bin/python3 -B endpoint.py "$@"
