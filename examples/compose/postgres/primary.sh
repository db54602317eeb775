#!/bin/sh
# A primary of PostgreSQL that one standby may follow; the programs are in the directory $BIN
set -e
"$BIN/initdb" -D /tmp/data -A trust -U bench --no-sync --no-instructions
echo "host all,replication all 0.0.0.0/0 trust" >> /tmp/data/pg_hba.conf
exec "$BIN/postgres" -D /tmp/data -c listen_addresses='*' -c unix_socket_directories=/tmp \
    -c fsync=off -c synchronous_standby_names='*' -c synchronous_commit="$COMMIT"
