import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readPages, repository } from '../../support/pages.ts';
import { render } from './render.ts';

const blocks = (await readPages()).flatMap((page) => page.blocks).filter(({ language }) => language === 'ts');

const unindented = (text: string) => text.replaceAll(/^ +/gm, '');

describe('TypeScript in the pages', () => {
  it.each(blocks)('of $place is part of the file that proves it', async ({ content, marker }) => {
    const files = marker?.kind === 'proof' ? marker.files : [];
    const sources = await Promise.all(files.map((file) => readFile(join(repository, file), 'utf8')));
    expect(unindented(sources.join('\n'))).toContain(unindented(content));
  });

  it('renders a control plane', () => {
    const objects = render({
      apiVersion: 'controlplane.cluster.x-k8s.io/v1alpha1',
      kind: 'HostedControlPlane',
      metadata: { name: 'prod', namespace: 'team-a' },
      spec: { version: 'v1.36.3', exposure: { loadBalancer: {} } },
    });
    expect(objects.map(({ kind }) => kind)).toEqual(expect.arrayContaining(['Deployment', 'StatefulSet', 'Service']));
  });
});
