#!/bin/bash
# pid 1 of a machine, in network, mount, pid, host name and ipc namespaces of its own: makes the root file system and
# then starts services. Environment: NAME, DIRECTORY (the machine's files), BINDS (directories seen at their own path).
set -e
root=$DIRECTORY/root

# A hostname of its own, before anything logs.
hostname "$NAME"

# The upper layer may not be on the file system of lowerdir=/ (ELOOP, overlapping layers), hence tmpfs: it holds only
# what the machine writes to /etc and /var.
mount -t tmpfs -o mode=755 tmpfs "$DIRECTORY/overlay"
mkdir "$DIRECTORY/overlay/upper" "$DIRECTORY/overlay/work"
mount -t overlay overlay -o "lowerdir=/,upperdir=$DIRECTORY/overlay/upper,workdir=$DIRECTORY/overlay/work" "$root"
mount -t proc proc "$root/proc"
mount -t sysfs sysfs "$root/sys"
mount --rbind /sys/fs/cgroup "$root/sys/fs/cgroup"
mount --rbind /dev "$root/dev"
mount -t tmpfs -o mode=755 tmpfs "$root/run"
for directory in $BINDS; do
  mkdir -p "$root$directory"
  mount --bind "$directory" "$root$directory"
done

# An overlay on an overlay is refused, and emptyDirs shall not eat memory: these are directories of a real file system.
bind() {
  mkdir -p "$root$2"
  mount --bind "$DIRECTORY/$1" "$root$2"
}
bind data/kubelet /var/lib/kubelet
bind data/pods /var/log/pods
bind log /var/log/machine

# The kubelet sets these for the whole host: it finds the values it wants and writes nothing.
mkdir "$root/run/sysctl"
for setting in vm/overcommit_memory=1 vm/panic_on_oom=0 kernel/panic=10 kernel/panic_on_oops=1 \
  kernel/keys/root_maxkeys=1000000 kernel/keys/root_maxbytes=25000000; do
  file=$root/run/sysctl/${setting//\//.}
  echo "${setting#*=}" >"$file"
  mount --bind "$file" "$root/proc/sys/${setting%=*}"
done

mkdir "$root/run/old"
cd "$root"
pivot_root . run/old
umount -l /run/old
# kubelet's and containerd's mounts must reach each other's pods
mount --make-rshared /
cd /

export HOME=/root
echo 1 >/proc/sys/net/ipv4/ip_forward
rm -rf /etc/kubernetes /etc/cni /etc/containerd /var/lib/cni /var/lib/etcd
cp -r "$DIRECTORY/etc/." /etc/
mkdir -p /run/containerd /run/services

# The init system: a name read from the pipe is a service, its executable is /run/services/NAME/run. It is started again
# whenever it ends, as long as that file is there.
supervise() {
  local directory=/run/services/$1 log=/var/log/machine/$1.log
  while [ -x "$directory/run" ]; do
    printf -- '--- start %(%FT%T)T\n' -1 >>"$log"
    "$directory/run" >>"$log" 2>&1 3>&- &
    echo $! >"$directory/pid"
    wait $! || :
    sleep 0.3
  done
}
mkfifo /run/services/.start
exec 3<>/run/services/.start
: >/run/services/.ready
while read -r service <&3; do
  supervise "$service" &
done
