import { expect, it } from 'vitest';
import { manifest } from '../../../constructs/cluster/manifest.ts';

it('a manifest says what it is, and its objects begin with what they are about', () => {
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
