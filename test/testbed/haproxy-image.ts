import { access } from 'node:fs/promises';
import { join } from 'node:path';
import { busyboxEntries } from './busybox.ts';
import type { Image } from './oci.ts';
import type { Report } from './progress.ts';
import { sharedLibraries } from './shared-libraries.ts';
import { unpackedPackage } from './unpacked-package.ts';

/** HAProxy under the name of its upstream image. What is in it is Debian's, which is older. */
export const haproxyImage = 'docker.io/library/haproxy:3.2.6-alpine';

/** The user of the upstream image. */
const user = 99;

/** HAProxy's image: the program where upstream has it, its libraries, a shell. `packages` is where Debian's is unpacked. */
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

/** Flags alone are HAProxy's, and HAProxy has a master process that stays in the foreground: as upstream has it. */
const entrypoint = `case "$1" in
  -*) set -- haproxy "$@" ;;
esac
if [ "$1" = haproxy ]; then
  shift
  set -- haproxy -W -db "$@"
fi
exec "$@"
`;
