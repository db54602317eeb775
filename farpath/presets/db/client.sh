#!/bin/sh
# pgbench, and then the log of its transactions: client.sh SCRIPT CLIENTS TRANSACTIONS
set -e
PATH="$(printf '%s:' /usr/lib/postgresql/*/bin)$PATH"
export PGSSLMODE=disable
mkdir /tmp/farpath-db-client
pgbench -h server -U bench -n -b "$1" -c "$2" -j 1 -t "$3" -l \
    --log-prefix=/tmp/farpath-db-client/log postgres
echo transactions
cat /tmp/farpath-db-client/log.*
