#!/bin/sh
# A standby of PostgreSQL that copies the primary and then follows it
set -e
"$BIN/pg_basebackup" -h primary -U bench -D /tmp/data -R -X stream --no-sync -d "application_name=far"
exec "$BIN/postgres" -D /tmp/data -c listen_addresses='*' -c unix_socket_directories=/tmp -c fsync=off
