# The shell of a document's reader: reads what to do next from standard input, and says on standard
# output what came of it. What the commands themselves print goes to a file each.
document=/run/document
last=0
cd

# In this shell, so that directories and variables stay; `$?` is that of the command before.
step() {
  (exit "$last")
  . "$document/$1.sh" > "$document/$1.out" 2>&1 < /dev/null
  last=$?
  trap - ERR
  echo "ended $1 $last"
}

# Leads a process group, as it would at a terminal, so that it can be interrupted with all it starts.
start() {
  set -m
  (. "$document/$1.sh") > "$document/$1.out" 2>&1 < /dev/null &
  set +m
  eval "job_$1=$!"
  echo "started $1 0"
}

finish() {
  local job=job_$1
  kill -s "$2" -- "-${!job}" 2> /dev/null
  wait "${!job}"
  last=$?
  echo "ended $1 $last"
}

while read -r request; do $request; done
