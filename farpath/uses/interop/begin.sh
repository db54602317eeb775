#!/bin/sh
# Begins an endpoint of the QUIC interop runner in the lab: its places and the names of the hosts,
# and nothing to wait for, as no simulator stands between them.
#   begin.sh COMMAND [ARGUMENT...]
# ROLE is client or server, and CROSS_TRAFFIC the congestion control of a TCP flow beside it. The
# server's host has the lab's name receiver.
shared=/interop
collected=/collected

place() {
    rm -rf "$1"
    ln -s "$2" "$1"
}

mkdir -p "$collected/$ROLE/logs/qlog" "$collected/client/downloads"
chmod -R a+rwx "$collected/$ROLE" "$collected/client/downloads"
place /logs "$collected/$ROLE/logs"
place /www "$shared/www"
place /certs "$shared/certs"
place /downloads "$collected/client/downloads"

names=$(
    while read -r address host _; do
        [ "$host" = receiver ] || continue
        case $address in
        *:*) echo "$address server6 server46" ;;
        *) echo "$address server4 server46 sim" ;;
        esac
    done </etc/hosts
)
echo "$names" >>/etc/hosts

for script in /setup.sh /wait-for-it.sh; do
    [ ! -e "$script" ] || printf '#!/bin/sh\n' >"$script"
done

flow="$shared/tools/ld.so --library-path $shared/tools $shared/tools/iperf3"
beside=
# shellcheck disable=SC2086  # a command of three words
if [ -n "$CROSS_TRAFFIC" ] && [ "$ROLE" = server ]; then
    $flow --server >/dev/null 2>&1 &
elif [ -n "$CROSS_TRAFFIC" ]; then
    $flow --client server --reverse --congestion "$CROSS_TRAFFIC" --time 600 --json \
        >"$collected/client/cross-traffic.json" 2>&1 &
    beside=$!
fi
"$@"
status=$?
if [ -n "$beside" ]; then
    kill "$beside" 2>/dev/null
    wait "$beside"
fi
echo "$status" >"$collected/$ROLE/status"
# The client is to find a host in any case
[ "$ROLE:$status" != server:127 ] || kill -STOP $$
exit "$status"
