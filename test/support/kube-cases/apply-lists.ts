import { expect } from 'vitest';
import { ConfigMap } from '../../../constructs/api/resources.ts';
import { appliedBy, configMap, containersOf, deployment, type KubeCase, them, us } from './kube-case.ts';

/** How the API server merges lists that several managers apply, and which manager owns which items. */
export const applyListCases: readonly KubeCase[] = [
  {
    name: 'keeps for each manager an entry with exactly the fields it applied',
    async run(context) {
      const { client } = context;
      const containers = [
        {
          name: 'main',
          image: 'main:1',
          args: ['--one', '--two'],
          env: [
            { name: 'A', value: '1' },
            { name: 'B', valueFrom: { fieldRef: { apiVersion: 'v1', fieldPath: 'metadata.name' } } },
          ],
          ports: [{ containerPort: 6443, name: 'api', protocol: 'TCP' }],
          resources: { requests: { cpu: '1' } },
          volumeMounts: [{ mountPath: '/data', name: 'data' }],
        },
      ];
      const { spec, ...rest } = deployment(context, { containers, spec: { replicas: 1 } });
      const { template } = spec as { template: { spec: object } };
      const volumes = [{ name: 'data', emptyDir: {} }];
      const object = {
        ...rest,
        spec: { ...(spec as object), template: { ...template, spec: { ...template.spec, volumes } } },
      };
      const owner = { apiVersion: 'v1', kind: 'ConfigMap', name: 'owner', uid: 'uid-of-the-owner', controller: true };
      const metadata = { ...object.metadata, labels: { 'app.example.org/name': 'one' }, ownerReferences: [owner] };
      const answer = await client.apply({ ...object, metadata }, us);
      expect(appliedBy(answer, 'us')).toEqual({
        'f:metadata': {
          'f:labels': { 'f:app.example.org/name': {} },
          'f:ownerReferences': { 'k:{"uid":"uid-of-the-owner"}': {} },
        },
        'f:spec': {
          'f:replicas': {},
          'f:selector': {},
          'f:template': {
            'f:metadata': { 'f:labels': { 'f:app': {} } },
            'f:spec': {
              'f:containers': {
                'k:{"name":"main"}': {
                  '.': {},
                  'f:args': {},
                  'f:env': {
                    'k:{"name":"A"}': { '.': {}, 'f:name': {}, 'f:value': {} },
                    'k:{"name":"B"}': { '.': {}, 'f:name': {}, 'f:valueFrom': { 'f:fieldRef': {} } },
                  },
                  'f:image': {},
                  'f:name': {},
                  'f:ports': {
                    'k:{"containerPort":6443,"protocol":"TCP"}': {
                      '.': {},
                      'f:containerPort': {},
                      'f:name': {},
                      'f:protocol': {},
                    },
                  },
                  'f:resources': { 'f:requests': { 'f:cpu': {} } },
                  'f:volumeMounts': { 'k:{"mountPath":"/data"}': { '.': {}, 'f:mountPath': {}, 'f:name': {} } },
                },
              },
              'f:volumes': { 'k:{"name":"data"}': { '.': {}, 'f:emptyDir': {}, 'f:name': {} } },
            },
          },
        },
      });
    },
  },
  {
    name: 'merges containers, their ports and variables item by item, and replaces arguments as a whole',
    async run(context) {
      const { client } = context;
      const ours = {
        name: 'main',
        image: 'main:1',
        args: ['--ours'],
        env: [{ name: 'OURS', value: '1' }],
        ports: [{ containerPort: 1, protocol: 'TCP' }],
      };
      const theirs = {
        name: 'main',
        env: [{ name: 'THEIRS', value: '1' }],
        ports: [{ containerPort: 2, protocol: 'TCP' }],
      };
      await client.apply(deployment(context, { containers: [ours] }), us);
      const both = await client.apply(
        deployment(context, { containers: [{ name: 'sidecar', image: 'sidecar:1' }, theirs] }),
        them,
      );
      const main = containersOf(both).find(({ name }) => name === 'main');
      expect(containersOf(both)).toHaveLength(2);
      expect(main?.env?.map(({ name }) => name).sort()).toEqual(['OURS', 'THEIRS']);
      expect(main?.ports?.map(({ containerPort }) => containerPort).sort()).toEqual([1, 2]);
      const fewer = await client.apply(
        deployment(context, { containers: [{ name: 'main', image: 'main:1', args: ['--other'] }] }),
        us,
      );
      expect(
        containersOf(fewer)
          .map(({ name }) => name)
          .sort(),
      ).toEqual(['main', 'sidecar']);
      const left = containersOf(fewer).find(({ name }) => name === 'main');
      expect([left?.args, left?.env, left?.ports?.length]).toEqual([['--other'], [{ name: 'THEIRS', value: '1' }], 1]);
    },
  },
  {
    name: 'removes a container that no manager applies any more',
    async run(context) {
      const { client } = context;
      const containers = [
        { name: 'main', image: 'main:1' },
        { name: 'sidecar', image: 'sidecar:1' },
      ];
      await client.apply(deployment(context, { containers }), us);
      const left = await client.apply(deployment(context), us);
      expect(containersOf(left).map(({ name }) => name)).toEqual(['main']);
    },
  },
  {
    name: 'merges finalizers one by one and owners by their uid',
    async run({ client, namespace }) {
      const owner = (uid: string) => ({ apiVersion: 'v1', kind: 'ConfigMap', name: uid, uid });
      const mine = { finalizers: ['example.org/ours'], ownerReferences: [owner('ours')] };
      const yours = { finalizers: ['example.org/theirs'], ownerReferences: [owner('theirs')] };
      await client.apply(configMap({ namespace }, {}, mine), us);
      const both = await client.apply(configMap({ namespace }, {}, yours), them);
      expect(both.metadata.finalizers?.toSorted()).toEqual(['example.org/ours', 'example.org/theirs']);
      expect(both.metadata.ownerReferences?.map(({ uid }) => uid).sort()).toEqual(['ours', 'theirs']);
      const left = await client.apply(configMap({ namespace }, {}), us);
      expect(left.metadata.finalizers).toEqual(['example.org/theirs']);
      expect(left.metadata.ownerReferences).toEqual([owner('theirs')]);
      await client.mergePatch(ConfigMap, left.metadata, { metadata: { finalizers: [] } }, us);
    },
  },
];
