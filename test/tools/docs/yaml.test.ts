import { describe, expect, it } from 'vitest';
import { ComponentTemplateSpec } from '../../../constructs/api/component-template.ts';
import { componentTemplateCRD, hostedControlPlaneCRD } from '../../../constructs/api/crd.ts';
import { parseHostedControlPlane } from '../../../constructs/api/parse-manifest.ts';
import { unknownFields, yamlOfPages } from '../../support/documented-objects.ts';

const blocks = await yamlOfPages();
const schemaOf = ({ spec }: typeof hostedControlPlaneCRD) => spec.versions[0].schema.openAPIV3Schema;

describe('YAML in the pages', () => {
  it('is there', () => expect(blocks.length).toBeGreaterThan(3));

  it.each(blocks)('of $place is whole objects, or the mark of an excerpt is on it', ({ isWhole, marker }) => {
    expect(marker?.kind).toBe(isWhole ? 'proof' : 'excerpt');
  });

  it.each(blocks)('of $place has only fields that the CRD knows', ({ hostedControlPlanes, componentTemplates }) => {
    expect([...hostedControlPlanes, ...componentTemplates]).not.toEqual([]);
    const unknown = [
      ...hostedControlPlanes.flatMap((object) => unknownFields(schemaOf(hostedControlPlaneCRD), object)),
      ...componentTemplates.flatMap((object) => unknownFields(schemaOf(componentTemplateCRD), object)),
    ];
    expect(unknown).toEqual([]);
  });

  it.each(blocks)('of $place is valid', ({ hostedControlPlanes, componentTemplates }) => {
    for (const { spec } of componentTemplates) expect(() => ComponentTemplateSpec.parse(spec)).not.toThrow();
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
