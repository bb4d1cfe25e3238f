import { expect, it } from 'vitest';
import { manifest } from '../../../constructs/cluster/manifest.ts';

it('a manifest starts with a description, and each object with its identifying fields', () => {
  const object = { kind: 'Pod', spec: { containers: [{ args: ['--a'], name: 'app' }] }, apiVersion: 'v1' };
  expect(manifest(['Two pods.'], [object, { kind: 'Pod', metadata: { labels: {}, name: 'b' } }])).toBe(`# Two pods.
# Written by \`npm run synth\`; edit the constructs instead.
apiVersion: v1
kind: Pod
spec:
  containers:
    - name: app
      args:
        - --a
---
kind: Pod
metadata:
  name: b
  labels: {}
`);
});
