#!/bin/sh
# PostgreSQL with pgbench's tables, in memory: server.sh SCALE
set -e
PATH="$(printf '%s:' /usr/lib/postgresql/*/bin)$PATH"
data=/tmp/farpath-db
initdb -D "$data" -A trust -U bench --no-sync --no-instructions >"$data.log"
echo 'host all all all trust' >>"$data/pg_hba.conf"
alone="-c listen_addresses= -c unix_socket_directories=/tmp -c fsync=off"
pg_ctl -D "$data" -o "$alone" -l "$data.log" -w start >/dev/null
pgbench -h /tmp -U bench -i -q -s "$1" postgres 2>"$data.log"
pg_ctl -D "$data" -m fast -w stop >/dev/null
# Nothing in the background but what a transaction needs
exec postgres -D "$data" -c 'listen_addresses=*' -c unix_socket_directories=/tmp -c fsync=off \
    -c autovacuum=off -c max_connections=300
