#!/bin/sh
# Caddy with an HLS stream that GStreamer makes of its test picture: server.sh SECONDS KBPS...
set -e
seconds=$1
shift
work=/tmp/farpath-video
mkdir -p "$work/stream" "$work/plugins"
cd "$work/stream"
# A list of plugins that is made anew: the user's own could be another one
for name in coreelements hls mpegtsmux multifile videotestsrc videoparsersbad x264; do
    ln -s /usr/lib/*/gstreamer-1.0/"libgst$name.so" "$work/plugins/"
done
export GST_PLUGIN_SYSTEM_PATH_1_0="$work/plugins" GST_REGISTRY_1_0="$work/registry"
export GST_REGISTRY_FORK=no
echo '#EXTM3U' >video.m3u8
for kbps; do
    # Segments of two seconds, each of which begins with a key frame, at a constant bitrate
    gst-launch-1.0 -q videotestsrc pattern=smpte75 num-buffers=$((25 * seconds)) \
        ! video/x-raw,format=I420,width=320,height=180,framerate=25/1 \
        ! x264enc bitrate="$kbps" vbv-buf-capacity=1000 key-int-max=50 bframes=0 threads=1 \
        speed-preset=ultrafast option-string=nal-hrd=cbr:filler=1:scenecut=0 \
        ! mpegtsmux ! hlssink target-duration=2 playlist-length=0 max-files=1000 \
        location="$kbps-%d.ts" playlist-location="$kbps.m3u8"
    printf '#EXT-X-STREAM-INF:BANDWIDTH=%d000,RESOLUTION=320x180\n%d.m3u8\n' "$kbps" "$kbps" >>video.m3u8
done
cat >"$work/Caddyfile" <<END
{
	admin off
	auto_https off
}
http://:80 {
	root * $work/stream
	file_server
	log {
		output stdout
		format json
	}
}
END
export HOME="$work" XDG_CONFIG_HOME="$work" XDG_DATA_HOME="$work"
exec caddy run --config "$work/Caddyfile" --adapter caddyfile
