#!/bin/sh
# Caddy with a page of objects over all versions of HTTP: server.sh OBJECTS BYTES
set -e
work=/tmp/farpath-web
mkdir -p "$work/page"
for number in $(seq "$1"); do head -c "$2" /dev/urandom >"$work/page/$number"; done
openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 30 -subj /CN=server \
    -addext subjectAltName=DNS:server -keyout "$work/key.pem" -out "$work/cert.pem" 2>/dev/null
cat >"$work/Caddyfile" <<END
{
	admin off
	auto_https off
}
https://server {
	tls $work/cert.pem $work/key.pem
	root * $work/page
	file_server
}
END
export HOME="$work" XDG_CONFIG_HOME="$work" XDG_DATA_HOME="$work"
exec caddy run --config "$work/Caddyfile" --adapter caddyfile
