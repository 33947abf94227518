# Arguments: the folder of PostgreSQL's programs, an empty working folder, and the number of servers.
# Prints "ready" once the servers answer, then waits for the end of its input. With several servers,
# they load Citus, and their ports count from 5432.
bin=$1
dir=$2
last=$((5431 + $3))
export LC_ALL=C

cleanup() {
    for port in $(seq 5432 $last); do
        "$bin/pg_ctl" stop -D "$dir/data$port" -m immediate >/dev/null 2>&1
    done
    cd /
    rm -rf "$dir"
}

for port in $(seq 5432 $last); do
    "$bin/initdb" -D "$dir/data$port" -U postgres -A trust -E UTF8 --no-locale --no-sync --no-instructions >"$dir/log" 2>&1 || exit 1
    cat >>"$dir/data$port/postgresql.conf" <<END
listen_addresses = ''
port = $port
unix_socket_directories = '$dir'
max_connections = 400
shared_buffers = 64MB
dynamic_shared_memory_type = mmap
fsync = off
synchronous_commit = off
full_page_writes = off
max_wal_size = 64MB
min_wal_size = 32MB
wal_level = minimal
max_wal_senders = 0
autovacuum = off
deadlock_timeout = 100ms
END
    if [ "$3" -gt 1 ]; then
        cat >>"$dir/data$port/postgresql.conf" <<END
shared_preload_libraries = 'citus'
citus.node_conninfo = 'sslmode=disable'
citus.shard_count = 4
citus.recover_2pc_interval = 1s
citus.enable_statistics_collection = off
citus.multi_task_query_log_level = 'log'
max_prepared_transactions = 400
max_worker_processes = 200
END
    fi
    "$bin/pg_ctl" start -D "$dir/data$port" -w -t 60 -l "$dir/log$port" >/dev/null 2>&1 || exit 1
done

trap cleanup EXIT
trap 'exit 1' HUP INT TERM
trap '' PIPE
echo ready
exec >/dev/null
cat >/dev/null
