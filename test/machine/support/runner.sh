#!/bin/bash
# Runs what the test asks for, one command after the other. Over the port of the machine come lines
# of base64; each is answered by a line: exit code, output and error output, the two in base64.
port=/dev/virtio-ports/test-runner
until [ -c "$port" ]; do sleep 0.2; done # its driver is loaded while the machine boots
exec 3<>"$port"
echo ready >&3
while read -r encoded <&3; do
  bash -c "$(base64 -d <<<"$encoded")" </dev/null >/run/runner.out 2>/run/runner.err 3>&-
  echo "$? $(base64 -w0 /run/runner.out) $(base64 -w0 /run/runner.err)" >&3
done
