# Arguments: the folder of PostgreSQL's programs and an empty working folder.
# Prints "ready" once the server answers, then waits for the end of its input.
bin=$1
dir=$2
export LC_ALL=C

cleanup() {
    "$bin/pg_ctl" stop -D "$dir/data" -m immediate >/dev/null 2>&1
    cd /
    rm -rf "$dir"
}

"$bin/initdb" -D "$dir/data" -U postgres -A trust -E UTF8 --no-locale --no-sync --no-instructions >"$dir/log" 2>&1 || exit 1
cat >>"$dir/data/postgresql.conf" <<END
listen_addresses = ''
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
"$bin/pg_ctl" start -D "$dir/data" -w -t 60 -l "$dir/log" >/dev/null 2>&1 || exit 1

trap cleanup EXIT
trap 'exit 1' HUP INT TERM
trap '' PIPE
echo ready
exec >/dev/null
cat >/dev/null
