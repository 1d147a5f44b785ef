# Becomes the first process of a machine: a copy of this one whose changes are forgotten. Started by
# `machine.ts` in namespaces of its own, with what must be there under the same path as arguments.
set -eu

shared=$1
executable=$2
runtime=$3
shift 3

layers=$shared/layers
mount --make-rprivate /
mkdir "$layers"
mount -t tmpfs tmpfs "$layers"

# A file system over another: what is written goes to memory, what is below stays as it is.
cover() {
  local below=$1 place=$2 layer
  layer=$(mktemp -d "$layers/XXXXXX")
  mkdir "$layer/upper" "$layer/work"
  mkdir -p "$place"
  mount -t overlay overlay -o "lowerdir=$below,upperdir=$layer/upper,workdir=$layer/work" "$place"
}

machine=$layers/machine
cover / "$machine"
mount -t proc proc "$machine/proc"
mount --rbind /sys "$machine/sys"
mount --rbind /dev "$machine/dev"
for place in tmp home run; do mount -t tmpfs tmpfs "$machine/$place"; done
mkdir "$machine/home/you" "$machine/run/document"
mount --bind "$shared" "$machine/run/document"
for folder in "$@"; do cover "$folder" "$machine$folder"; done
# Whatever the files are called where they come from: npm's Bun is a bun.exe.
install_program() {
  touch "$machine/usr/local/bin/$1"
  mount --bind "$2" "$machine/usr/local/bin/$1"
}
install_program cc-executor "$executable"
install_program bun "$runtime"

# A cgroup of its own: services of two machines have state directories of one name.
v2=$(awk '$3 == "cgroup2" { print $2; exit }' /proc/self/mounts)
own=$(sed -n 's/^0:://p' /proc/self/cgroup)
if cgroup=$(mktemp -d "$v2$own/documented-XXXXXX" 2> /dev/null) && test -e "$cgroup/cgroup.procs"; then
  echo 0 > "$cgroup/cgroup.procs"
  echo "$cgroup" > "$shared/cgroup"
fi

ip link set lo up
ip address add 192.0.2.10/32 dev lo
{
  echo "127.0.0.1 localhost"
  echo "::1 localhost"
  echo "192.0.2.10 build.example.net mcp.example.net host"
} > "$machine/etc/hosts"

exec chroot "$machine" /bin/bash /run/document/typed.sh
