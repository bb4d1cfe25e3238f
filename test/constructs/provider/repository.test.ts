import { expect, it } from 'vitest';
import { parse } from 'yaml';
import { clusterctlConfiguration, releaseFiles, releaseFolder } from '../../../constructs/provider/repository.ts';
import packageManifest from '../../../package.json' with { type: 'json' };

it("a release is in the folder that clusterctl derives from the provider's type, its name and the version", () => {
  expect(releaseFolder).toBe(`control-plane-hosted-control-plane/v${packageManifest.version}`);
});

it('a release has components, metadata and templates, with the image that is given', () => {
  const files = releaseFiles('registry.example.com/operator:v1');
  expect(files.map(({ path }) => path)).toEqual(
    expect.arrayContaining(['control-plane-components.yaml', 'metadata.yaml', 'cluster-template.yaml']),
  );
  expect(files[0]?.content).toContain('image: registry.example.com/operator:v1');
});

it('the configuration of clusterctl names the newest release of the repository', () => {
  const { path, content } = clusterctlConfiguration('/releases');
  expect(path).toBe('clusterctl.yaml');
  expect(parse(content)).toEqual({
    providers: [
      {
        name: 'hosted-control-plane',
        type: 'ControlPlaneProvider',
        url: 'file:///releases/control-plane-hosted-control-plane/latest/control-plane-components.yaml',
      },
    ],
  });
});
