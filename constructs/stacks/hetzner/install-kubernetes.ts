/** Where the script is on a worker. */
export const installScriptPath = '/usr/local/sbin/install-kubernetes';

/**
 * The script that makes a worker of a stock image of Debian or Ubuntu: it installs containerd, the kubelet and kubeadm. On
 * an image that has kubeadm it does nothing.
 * @param version such as v1.34.3
 */
export function installScript(version: string): string {
  return `#!/bin/bash
set -euo pipefail
if command -v kubeadm >/dev/null; then exit 0; fi
version=${version}
minor="\${version%.*}"
printf 'overlay\\nbr_netfilter\\n' >/etc/modules-load.d/kubernetes.conf
modprobe -a overlay br_netfilter
printf 'net.ipv4.ip_forward = 1\\nnet.bridge.bridge-nf-call-iptables = 1\\nnet.bridge.bridge-nf-call-ip6tables = 1\\n' \\
  >/etc/sysctl.d/99-kubernetes.conf
sysctl --system >/dev/null
swapoff -a
export DEBIAN_FRONTEND=noninteractive
apt-get update
apt-get install -y apt-transport-https ca-certificates conntrack containerd curl gpg
mkdir -p /etc/containerd /etc/apt/keyrings
containerd config default | sed 's/SystemdCgroup = false/SystemdCgroup = true/' >/etc/containerd/config.toml
systemctl restart containerd
curl -fsSL "https://pkgs.k8s.io/core:/stable:/\${minor}/deb/Release.key" \\
  | gpg --dearmor --yes -o /etc/apt/keyrings/kubernetes.gpg
echo "deb [signed-by=/etc/apt/keyrings/kubernetes.gpg] https://pkgs.k8s.io/core:/stable:/\${minor}/deb/ /" \\
  >/etc/apt/sources.list.d/kubernetes.list
apt-get update
apt-get install -y "kubelet=\${version#v}-*" "kubeadm=\${version#v}-*"
apt-mark hold kubelet kubeadm
systemctl enable --now kubelet
`;
}
