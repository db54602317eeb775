#!/bin/sh
# An endpoint of the QUIC interop runner with Debian's ngtcp2 (packages ngtcp2-server and
# ngtcp2-client), whose programs speak HTTP/3 alone.
#   farpath interop 'ngtcp2=machine:sh ngtcp2_endpoint.sh'
PATH=$PATH:/usr/sbin
case $TESTCASE in
http3) ;;
*) exit 127 ;;
esac
if [ "$ROLE" = server ]; then
    exec gtlsserver --quiet --htdocs=/www --qlog-dir="$QLOGDIR" '*' 443 /certs/priv.key /certs/cert.pem
fi
# shellcheck disable=SC2086  # several addresses
exec gtlsclient --quiet --exit-on-all-streams-close --download=/downloads --qlog-dir="$QLOGDIR" \
    server4 443 $REQUESTS
