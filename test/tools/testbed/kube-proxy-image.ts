import { busyboxEntries } from './busybox.ts';
import type { Image, ImageEntry } from './oci.ts';
import { sharedLibraries, xtablesPlugins } from './shared-libraries.ts';

/**
 * The image of kube-proxy, whose binary is at `source`: it runs iptables, nft and conntrack, here the host's own with
 * their libraries. At upstream's program path is a script that makes a testbed's machine look like a complete one.
 */
export async function kubeProxy(reference: string, source: string): Promise<Image> {
  const programs = ['/usr/sbin/xtables-nft-multi', '/usr/sbin/nft', '/usr/sbin/conntrack'];
  const plugins = await xtablesPlugins();
  // the only plugin that kube-proxy uses and that has more libraries than the programs; ldd of all takes a second
  const statistic = plugins.flatMap((entry) =>
    entry.kind === 'file' && entry.path.endsWith('/libxt_statistic.so') ? [entry.source] : [],
  );
  const links = ['iptables', 'ip6tables'].flatMap((name) => [name, `${name}-save`, `${name}-restore`]);
  return {
    reference,
    config: { Entrypoint: ['/usr/local/bin/kube-proxy'] },
    entries: [
      { kind: 'text', path: '/usr/local/bin/kube-proxy', text: script, mode: 0o755 },
      { kind: 'file', path: program, source },
      ...programs.map((path): ImageEntry => ({ kind: 'file', path, source: path })),
      ...links.map((name): ImageEntry => ({ kind: 'link', path: `/usr/sbin/${name}`, target: 'xtables-nft-multi' })),
      ...(await sharedLibraries([...programs, ...statistic])),
      ...plugins,
      ...(await busyboxEntries()),
      { kind: 'directory', path: '/run' },
    ],
  };
}

const program = '/usr/local/lib/kube-proxy';

/**
 * The size of the connection table is that of the whole host and cannot be written in a network namespace, which a machine
 * is; kube-proxy exits when it is not the size it wants: 32768 for each processor, at least 131072.
 */
const script = `#!/bin/sh
size=$((32768 * $(nproc)))
[ $size -ge 131072 ] || size=131072
pretend() {
  echo "$2" >/run/$(basename "$1")
  mount -o bind /run/$(basename "$1") "$1"
}
pretend /proc/sys/net/netfilter/nf_conntrack_max $size
pretend /sys/module/nf_conntrack/parameters/hashsize $((size / 4))
exec ${program} "$@"
`;
