import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import {
  type CustomResourceDefinition,
  definitions,
  hostedControlPlaneCRD,
  hostedControlPlaneTemplateCRD,
} from '../../../constructs/api/crd.ts';
import { HostedControlPlaneTemplateSpec } from '../../../constructs/api/hosted-control-plane-template.ts';
import { HostedControlPlaneSpec } from '../../../constructs/api/hosted-control-plane.ts';
import { children, structural, type StructuralSchema } from '../../../constructs/api/structural.ts';
import { minimalSpec } from './admission-cases.ts';

interface Node {
  readonly path: string;
  readonly schema: StructuralSchema;
}

const schemaOf = (crd: CustomResourceDefinition) => crd.spec.versions[0].schema.openAPIV3Schema;

const nodesOf = (schema: StructuralSchema, path: string): Node[] => [
  { path, schema },
  ...children(schema).flatMap(([name, child]) => nodesOf(child, `${path}.${name}`)),
];

const nodes = definitions.flatMap((crd) => nodesOf(schemaOf(crd), crd.spec.names.kind));

const pathsOf = (broken: (schema: StructuralSchema) => boolean) =>
  nodes.filter(({ schema }) => broken(schema)).map(({ path }) => path);

/** Applies defaults before validation, as an API server does. */
function withDefaults(schema: StructuralSchema, value: unknown): unknown {
  if (Array.isArray(value)) return value.map((item) => (schema.items ? withDefaults(schema.items, item) : item));
  if (typeof value !== 'object' || value === null) return value;
  const filled: Record<string, unknown> = { ...value };
  for (const [name, child] of Object.entries(schema.properties ?? {})) {
    const given = filled[name] === undefined ? structuredClone(child.default) : filled[name];
    if (given !== undefined) filled[name] = withDefaults(child, given);
  }
  return filled;
}

describe('the CustomResourceDefinitions', () => {
  it('describe every field', () => {
    expect(nodes.length).toBeGreaterThan(400);
    expect(pathsOf((schema) => !schema.description)).toEqual([
      'HostedControlPlane.metadata',
      'HostedControlPlaneTemplate.metadata',
      'HostedControlPlaneComponentTemplate.metadata',
    ]);
  });

  it('have descriptions that end with a full stop', () => {
    expect(pathsOf((schema) => schema.description !== undefined && !schema.description.endsWith('.'))).toEqual([]);
  });

  it('give every object fields, a value type or free form', () => {
    const shapeless = pathsOf(
      (schema) =>
        schema.type === 'object' &&
        !schema.properties &&
        !schema.additionalProperties &&
        !schema['x-kubernetes-preserve-unknown-fields'],
    );
    expect(shapeless).toEqual(definitions.map(({ spec }) => `${spec.names.kind}.metadata`));
  });

  it('give every list an item type and every number a format', () => {
    expect(pathsOf((schema) => schema.type === 'array' && !schema.items)).toEqual([]);
    expect(pathsOf((schema) => schema.type === 'integer' && !schema.format)).toEqual([]);
    expect(pathsOf((schema) => schema.type === 'number')).toEqual([]);
  });

  it("use no pattern that Go's regular expressions do not support", () => {
    expect(pathsOf((schema) => /\(\?[=!<]|\\u|\\d\{,/.test(schema.pattern ?? ''))).toEqual([]);
  });

  it('bound the fields that their rules read, so that the rules stay within the cost limit', () => {
    const unbounded = nodes
      .filter(({ schema }) => schema['x-kubernetes-validations'])
      .filter(
        ({ schema }) =>
          (schema.type === 'string' && !schema.maxLength) ||
          (schema.type === 'array' && !schema.maxItems) ||
          (schema.additionalProperties && !schema.maxProperties),
      );
    expect(unbounded.map(({ path }) => path)).toEqual([]);
  });

  it('escape fields that are words of CEL in their rules', () => {
    const words =
      /\.(as|break|const|continue|else|false|for|function|if|import|in|let|loop|namespace|null|package|return|true|var|void|while)\b/;
    const rules = nodes.flatMap(({ schema }) => (schema['x-kubernetes-validations'] ?? []) as { rule: string }[]);
    expect(rules.filter(({ rule }) => words.test(rule.replaceAll(/'[^']*'/g, "''")))).toEqual([]);
  });

  it.each(definitions)(
    'fit into the annotation that kubectl apply without --server-side writes: $spec.names.kind',
    (crd) => {
      const largest = 256 * 1024;
      expect(Buffer.byteLength(JSON.stringify(crd)) + 1024).toBeLessThan(largest);
    },
  );

  it('leave rules about updates out of the template, which is edited in place', () => {
    const template = nodesOf(schemaOf(hostedControlPlaneTemplateCRD), 'HostedControlPlaneTemplate');
    const rules = template.flatMap(({ schema }) => schema['x-kubernetes-validations'] ?? []);
    expect(rules.length).toBeGreaterThan(5);
    expect(JSON.stringify(rules)).not.toContain('oldSelf');
  });

  it('leave fields that are specific to one cluster out of the template', () => {
    const template = schemaOf(hostedControlPlaneTemplateCRD).properties?.['spec']?.properties?.['template'];
    const fields = Object.keys(template?.properties?.['spec']?.properties ?? {});
    expect(fields).toContain('etcd');
    expect(fields).not.toEqual(expect.arrayContaining(['version', 'replicas', 'controlPlaneEndpoint']));
  });

  it('have the same defaults as the parser', () => {
    const spec = { ...minimalSpec, etcd: { backup: { schedule: '@daily', secret: { name: 's3' } } } };
    const schema = structural(HostedControlPlaneSpec);
    expect(withDefaults(schema, spec)).toEqual(HostedControlPlaneSpec.parse(spec));
    const template = { template: {} };
    expect(withDefaults(structural(HostedControlPlaneTemplateSpec), template)).toEqual(
      HostedControlPlaneTemplateSpec.parse(template),
    );
  });

  it('give the patches of a ClusterClass a parent for the fields they add', () => {
    const { spec } = HostedControlPlaneTemplateSpec.parse({ template: {} }).template;
    expect(spec).toMatchObject({
      apiServer: {},
      certificates: {},
      deployment: { apiServer: {}, scheduler: {} },
      etcd: {},
    });
  });

  it('are named as Cluster API computes it from group and kind', () => {
    expect(definitions.map((crd) => crd.metadata.name)).toEqual([
      'hostedcontrolplanes.controlplane.cluster.x-k8s.io',
      'hostedcontrolplanetemplates.controlplane.cluster.x-k8s.io',
      'hostedcontrolplanecomponenttemplates.controlplane.cluster.x-k8s.io',
    ]);
    expect(definitions.map((crd) => crd.spec.names.listKind)).toEqual([
      'HostedControlPlaneList',
      'HostedControlPlaneTemplateList',
      'HostedControlPlaneComponentTemplateList',
    ]);
  });

  it('have one version each, which is served and stored, of namespaced objects', () => {
    const found = definitions.map(({ spec: { scope, versions } }) => [scope, versions.length, versions[0]]);
    const once = ['Namespaced', 1, expect.objectContaining({ served: true, storage: true })];
    expect(found).toEqual([once, once, once]);
  });

  it('have a status for control planes only', () => {
    const statuses = definitions.map(({ spec: { versions } }) => versions[0].subresources?.status);
    expect(statuses).toEqual([{}, undefined, undefined]);
    expect(schemaOf(hostedControlPlaneTemplateCRD).properties).not.toHaveProperty('status');
  });

  it('scale by the fields that the operator reports', () => {
    const paths = Object.values(hostedControlPlaneCRD.spec.versions[0].subresources?.scale ?? {});
    expect(paths).toEqual(['.spec.replicas', '.status.replicas', '.status.selector']);
    const known = nodesOf(schemaOf(hostedControlPlaneCRD), '').map(({ path }) => path);
    expect(known).toEqual(expect.arrayContaining(paths));
  });

  it('have no field that only older contracts read, apart from status.ready', () => {
    const older = [
      'initialized',
      'updatedReplicas',
      'unavailableReplicas',
      'failureReason',
      'failureMessage',
      'v1beta2',
      'deprecated',
    ];
    const status = Object.keys(schemaOf(hostedControlPlaneCRD).properties?.['status']?.properties ?? {});
    expect(status).toContain('versions');
    expect(status.filter((field) => older.includes(field))).toEqual([]);
  });

  it.each(definitions)('carry the labels of provider, contract and clusterctl: $spec.names.kind', (crd) => {
    expect(crd.metadata.labels).toMatchObject({
      'cluster.x-k8s.io/provider': 'control-plane-hosted-control-plane',
      'cluster.x-k8s.io/v1beta2': crd.spec.versions[0].name,
      'clusterctl.cluster.x-k8s.io': '',
    });
  });

  it('let clusterctl move what no Cluster owns, too', () => {
    const moved = definitions.filter(
      ({ metadata }) => metadata.labels['clusterctl.cluster.x-k8s.io/move'] !== undefined,
    );
    expect(moved.map(({ spec }) => spec.names.kind)).toEqual(['HostedControlPlaneComponentTemplate']);
  });

  it('print the columns of the reference provider, the endpoint, and what blocks', () => {
    const [{ additionalPrinterColumns: columns, subresources }] = hostedControlPlaneCRD.spec.versions;
    expect(columns.filter(({ priority = 0 }) => priority === 0).map(({ name }) => name)).toEqual([
      'Status',
      'Version',
      'Replicas',
      'Ready',
      'Age',
    ]);
    expect(columns.filter(({ priority = 0 }) => priority > 0).map(({ name }) => name)).toEqual([
      'Initialized',
      'API Server Available',
      'Updated',
      'ETCD Size',
      'Max ETCD Space Usage',
      'Paused',
      'Endpoint',
      'Port',
      'Release',
      'Certificates Until',
    ]);
    expect(subresources).toMatchObject({ status: {}, scale: { specReplicasPath: '.spec.replicas' } });
  });
});

describe('structural', () => {
  it('refuses a union, which no CustomResourceDefinition can express', () => {
    const schema = z.object({ port: z.union([z.string(), z.int()]) });
    expect(() => structural(schema)).toThrow('port has no type: write alternatives as optional fields and a rule');
  });
});
