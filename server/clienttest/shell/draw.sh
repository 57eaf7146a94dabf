#!/usr/bin/env bash
# Draws ids through redis-cli.
set -euo pipefail

host=${REDLEAF_ADDR%:*}
port=${REDLEAF_ADDR##*:}
own=segment:$REDLEAF_TAG
shared=segment:$REDLEAF_SHARED
snowflake=snowflake:$REDLEAF_TAG
if [ -n "$REDLEAF_PASSWORD" ]; then export REDISCLI_AUTH=$REDLEAF_PASSWORD; fi

# Without -e it ends well after an error reply, too.
cli() { redis-cli -e -h "$host" -p "$port" "$@"; }
# The words of a kind and of each line, so that a failure of the command is not lost in a pipe.
tell() {
  local lines
  lines=$("${@:2}")
  sed "s/^/$1 /" <<<"$lines"
}
many() { for ((i = 0; i < $1; i++)); do echo "INCR $2"; done; }
pipeline() { many 10000 "$shared" | cli; }
# The replies to MULTI and to the queued commands come first.
transaction() { { echo MULTI; many 100 "$own"; echo EXEC; } | cli | grep -E '^[0-9]+$'; }

tell version awk '{print $2}' <<<"$(redis-cli --version)"
tell own cli INCR "$own"
tell block cli INCRBY "$own" 1000
tell snowflake cli GET "$snowflake"
tell shared pipeline
tell own transaction
tell own cli LPOP "$own" 1000
tell snowflake cli LPOP "$snowflake" 1000
tell error redis-cli -h "$host" -p "$port" REDLEAFNOPE a

echo ready
failed=0 after=0 example=''
# Every call is a process and a connection of its own.
while [ $after -lt 10 ]; do
  up=0
  [ ! -e "$REDLEAF_UP" ] || up=1
  if id=$(cli INCR "$shared" 2>&1); then
    echo "shared $id"
    after=$((after + up))
  else
    failed=$((failed + 1)) example=$id
    sleep 0.02
  fi
done
echo "failed $failed $example"
