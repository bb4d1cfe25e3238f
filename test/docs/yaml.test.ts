import { describe, expect, it } from 'vitest';
import { hostedControlPlaneCRD } from '../../constructs/api/crd.ts';
import { parseHostedControlPlane } from '../../constructs/api/parse.ts';
import { unknownFields, yamlOfPages } from '../support/documented-objects.ts';

const blocks = await yamlOfPages();
const { openAPIV3Schema } = hostedControlPlaneCRD.spec.versions[0].schema;

describe('YAML in the pages', () => {
  it('is there', () => expect(blocks.length).toBeGreaterThan(3));

  it.each(blocks)('of $place is whole objects, or the mark of an excerpt is on it', ({ isWhole, marker }) => {
    expect(marker?.kind).toBe(isWhole ? 'proof' : 'excerpt');
  });

  it.each(blocks)('of $place has only fields that the CRD knows', ({ hostedControlPlanes }) => {
    expect(hostedControlPlanes.length).toBeGreaterThan(0);
    expect(hostedControlPlanes.flatMap((object) => unknownFields(openAPIV3Schema, object))).toEqual([]);
  });

  it.each(blocks)('of $place is valid', ({ hostedControlPlanes }) => {
    expect(hostedControlPlanes.map((object) => parseHostedControlPlane(object))).toEqual(
      hostedControlPlanes.map(() => expect.objectContaining({ valid: true }) as unknown),
    );
  });

  it.each(blocks.filter(({ isWhole }) => isWhole))(
    'of $place has the Cluster of each HostedControlPlane',
    ({ objects, hostedControlPlanes }) => {
      const clusters = objects.filter(({ kind }) => kind === 'Cluster');
      const named = clusters.map(({ metadata, spec }) => ({
        namespace: metadata.namespace,
        name: (spec as { controlPlaneRef: { name: string } }).controlPlaneRef.name,
      }));
      expect(hostedControlPlanes.map(({ metadata: { namespace, name } }) => ({ namespace, name }))).toEqual(named);
    },
  );
});
