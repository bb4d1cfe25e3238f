import type { Source } from './source.ts';

/** A file, and what it is known by. */
export interface Subject {
  readonly name: string;
  readonly digest: { readonly sha256: string };
}

/**
 * A statement in the format of in-toto and SLSA about the origin of the files: not signed, because a signature needs the key
 * or the identity of the publisher.
 */
export function provenance(version: string, source: Source, subject: readonly Subject[]): string {
  const statement = {
    _type: 'https://in-toto.io/Statement/v1',
    subject,
    predicateType: 'https://slsa.dev/provenance/v1',
    predicate: {
      buildDefinition: {
        buildType: 'urn:cluster-api-provider-hosted-control-plane:release:v1',
        externalParameters: { version },
        resolvedDependencies: [{ uri: 'git', digest: { gitCommit: source.commit } }],
      },
      runDetails: {
        builder: { id: 'urn:cluster-api-provider-hosted-control-plane:npm-run-release' },
        metadata: { finishedOn: source.date },
      },
    },
  };
  return `${JSON.stringify(statement, undefined, 2)}\n`;
}
