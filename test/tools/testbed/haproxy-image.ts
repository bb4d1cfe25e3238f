import { access } from 'node:fs/promises';
import { join } from 'node:path';
import { busyboxEntries } from './busybox.ts';
import type { Image } from './oci.ts';
import type { Report } from './progress.ts';
import { sharedLibraries } from './shared-libraries.ts';
import { unpackedPackage } from './unpacked-package.ts';

/** HAProxy under the name of its upstream image. Its content is Debian's, which is older. */
export const haproxyImage = 'docker.io/library/haproxy:3.2.6-alpine';

/** The user of the upstream image. */
const user = 99;

/**
 * HAProxy's image: the program at upstream's path, its libraries, a shell. `packages` is the directory of the unpacked Debian
 * packages.
 */
export async function haproxy(packages: string, report: Report): Promise<Image> {
  const program = '/usr/sbin/haproxy';
  const isInstalled = await access(program).then(
    () => true,
    () => false,
  );
  const root = isInstalled ? '/' : await unpackedPackage('haproxy', packages, report);
  const source = join(root, program);
  return {
    reference: haproxyImage,
    config: {
      Entrypoint: ['/bin/sh', '/usr/local/bin/docker-entrypoint.sh'],
      Cmd: ['haproxy', '-f', '/usr/local/etc/haproxy/haproxy.cfg'],
      Env: ['PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'],
      User: `${user}:${user}`,
      WorkingDir: '/var/lib/haproxy',
      // ends when its connections have ended
      StopSignal: 'SIGUSR1',
    },
    entries: [
      { kind: 'file', path: '/usr/local/sbin/haproxy', source },
      ...(await sharedLibraries([source], root)),
      ...(await busyboxEntries()),
      { kind: 'text', path: '/usr/local/bin/docker-entrypoint.sh', text: entrypoint },
      { kind: 'text', path: '/etc/passwd', text: `haproxy:x:${user}:${user}:haproxy:/var/lib/haproxy:/sbin/nologin\n` },
      { kind: 'directory', path: '/usr/local/etc/haproxy' },
      { kind: 'directory', path: '/var/lib/haproxy' },
    ],
  };
}

/**
 * Arguments that are only flags are HAProxy's, which runs as a master process in the foreground, as upstream's entry point does.
 */
const entrypoint = `case "$1" in
  -*) set -- haproxy "$@" ;;
esac
if [ "$1" = haproxy ]; then
  shift
  set -- haproxy -W -db "$@"
fi
exec "$@"
`;
