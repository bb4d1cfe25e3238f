import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { build } from 'esbuild';
import { createCA, issueCertificate, validFor } from '../../../reconciler/pki/issue.ts';
import { loadImage } from '../../tools/testbed/access.ts';
import type { Instance } from '../../tools/testbed/instance.ts';
import { writeImageArchive } from '../../tools/testbed/oci.ts';
import { repository } from '../../tools/testbed/operator-bundle.ts';
import { nodeContent, ownNode } from '../../tools/testbed/operator-image.ts';
import { standInFiles } from './stand-in-files.ts';

/** The image in the registry that the sample policy for tenants allows. */
export const standInImage = { registry: 'registry.example.org', repository: 'tenant/stand-in', tag: 'v1' } as const;

const programs = '/usr/local/bin';

/** Builds the image of a tenant, and loads it where pods find it. */
export async function loadStandIn(instance: Instance): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), 'stand-in-'));
  const [source, archive] = [join(directory, 'stand-in.cjs'), join(directory, 'image.tar')];
  try {
    await build({
      absWorkingDir: repository,
      entryPoints: ['test/support/hostile-tenant/stand-in.ts'],
      outfile: source,
      bundle: true,
      platform: 'node',
      target: 'node24',
      format: 'cjs',
      banner: { js: `#!${programs}/node` },
      logLevel: 'error',
    });
    const { certificate, key } = await selfMade();
    const { registry, repository: path, tag } = standInImage;
    const content = nodeContent(
      await ownNode(),
      [],
      [
        { kind: 'file', path: join(programs, 'kube-apiserver'), source, mode: 0o755 },
        { kind: 'link', path: join(programs, 'kube-controller-manager'), target: 'kube-apiserver' },
        { kind: 'link', path: join(programs, 'kube-scheduler'), target: 'kube-apiserver' },
        { kind: 'text', path: standInFiles.certificate, text: certificate },
        { kind: 'text', path: standInFiles.key, text: key },
      ],
    );
    await writeImageArchive(archive, { reference: `${registry}/${path}:${tag}`, ...content });
    await loadImage(instance, archive);
  } finally {
    await rm(directory, { recursive: true });
  }
}

/** Probes of the kubelet verify no certificate. */
async function selfMade() {
  const validity = validFor(24 * 60 * 60_000, new Date());
  const ca = await createCA({ commonName: 'stand-in' }, validity);
  return issueCertificate({ commonName: 'stand-in', organizations: [], usages: ['server'], hosts: [] }, ca, validity);
}
