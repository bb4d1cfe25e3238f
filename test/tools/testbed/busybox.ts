import type { ImageEntry } from './oci.ts';
import { run } from './run.ts';

/** The host's static busybox with a link for each of its commands: the shell and the tools of an image. */
export async function busyboxEntries(): Promise<ImageEntry[]> {
  const applets = (await run(['/bin/busybox', '--list'])).trim().split('\n');
  return [
    { kind: 'file', path: '/bin/busybox', source: '/bin/busybox' },
    ...applets
      .filter((name) => name !== 'busybox')
      .map((name): ImageEntry => ({ kind: 'link', path: `/bin/${name}`, target: 'busybox' })),
    { kind: 'directory', path: '/tmp', mode: 0o1777 },
  ];
}
