#!/bin/sh
# Runs one of the two servers of postgres.compose.yaml. Its files are made at the first start: anew, or as a copy of the server that FOLLOWS names.
# Both have the same demand, so that it holds after a failover too: a commit is acknowledged once the other server has it.
#
# NAME: one or two. PGDATA: its files. SECRETS: the folder of its passwords; /run/secrets when absent. Arguments go to the server.
set -eu
secrets=${SECRETS:-/run/secrets}
names='one, two'
# The server refuses a folder that others may read, as a new volume is.
mkdir -p "$PGDATA"
chmod 0700 "$PGDATA"

if [ ! -s "$PGDATA/PG_VERSION" ] && [ -n "${FOLLOWS:-}" ]; then
  PGPASSWORD=$(cat "$secrets/database-replicator")
  export PGPASSWORD
  until pg_basebackup -h "$FOLLOWS" -p "${PGPORT:-5432}" -U replicator -D "$PGDATA" -R -X stream -c fast; do
    echo "waits for $FOLLOWS" >&2
    find "$PGDATA" -mindepth 1 -delete
    sleep 1
  done
  unset PGPASSWORD
elif [ ! -s "$PGDATA/PG_VERSION" ]; then
  making=$(mktemp -d)
  initdb -D "$PGDATA" -U owner -E UTF8 --locale=C --pwfile="$secrets/database-owner" --auth-local=trust --auth-host=scram-sha-256
  cat >> "$PGDATA/pg_hba.conf" <<HBA
host perpd perpd all scram-sha-256
host replication replicator all scram-sha-256
HBA
  # Reached by nobody while it is made. The demand counts from the next start on: a standby there is not yet.
  pg_ctl -D "$PGDATA" -w -o "-c listen_addresses='' -k $making" start
  psql -X -q -v ON_ERROR_STOP=1 -h "$making" -U owner -d postgres \
    -v perpd="$(cat "$secrets/database-perpd")" -v replicator="$(cat "$secrets/database-replicator")" <<SQL
CREATE ROLE perpd LOGIN PASSWORD :'perpd';
GRANT pg_monitor TO perpd;
CREATE ROLE replicator LOGIN REPLICATION PASSWORD :'replicator';
CREATE DATABASE perpd OWNER perpd;
ALTER SYSTEM SET synchronous_standby_names = 'ANY 1 ($names)';
SQL
  pg_ctl -D "$PGDATA" -w stop
  rmdir "$making"
fi

# A standby calls itself by cluster_name, which is how the other one knows it.
exec postgres -D "$PGDATA" -c "cluster_name=$NAME" -c 'listen_addresses=*' -c wal_log_hints=on "$@"
