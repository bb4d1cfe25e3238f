import { ConfigMap, type Resource, Secret } from '../../constructs/api/resources.ts';
import type { KubernetesApi } from '../../reconciler/kube/client.ts';
import type { KubeObject } from '../../reconciler/kube/object.ts';

/** What the API server of a hosted cluster answers when a rotation queries it. */
export interface APIServerAnswers {
  /** Hash of the encryption configuration that the API server reports as loaded. */
  readonly loadedEncryption?: () => string | undefined;
  /** Ids of the keys whose tokens the API server accepts. */
  readonly verifyingKeys?: () => readonly string[];
  /** Id of the key that the API server signs tokens with. */
  readonly signingKey?: () => string | undefined;
  readonly secrets?: () => readonly KubeObject[];
  readonly configMaps?: () => readonly KubeObject[];
  /** Called for each patch that changes an object. */
  readonly patch?: (kind: string, name: string, patch: object) => void;
}

/** A client of such an API server. It answers only the paths and kinds that the features request. */
export function apiServerThat(answers: APIServerAnswers): KubernetesApi {
  const listed = (resource: Resource): readonly KubeObject[] =>
    (resource.kind === Secret.kind ? answers.secrets : answers.configMaps)?.() ?? [];
  const client: Partial<KubernetesApi> = {
    raw: async (path) => {
      if (path === '/metrics') return metricsOf(answers.loadedEncryption?.());
      if (path === '/openid/v1/jwks') return JSON.stringify({ keys: (answers.verifyingKeys?.() ?? []).map(keyWith) });
      throw new Error(`${path} has no answer in this test`);
    },
    serviceAccountToken: async () => tokenSignedBy(answers.signingKey?.()),
    async *pages(resource: Resource, { fieldSelector }: { readonly fieldSelector?: string } = {}) {
      const name = fieldSelector?.startsWith('metadata.name=') ? fieldSelector.split('=')[1] : undefined;
      yield listed(resource).filter(({ metadata }) => name === undefined || metadata.name === name);
    },
    find: async <T extends KubeObject>(resource: Resource, { name }: { readonly name: string }) =>
      listed(resource).find(({ metadata }) => metadata.name === name) as T | undefined,
    mergePatch: async <T extends KubeObject>(
      resource: Resource,
      { name }: { readonly name: string },
      patch: object,
    ) => {
      answers.patch?.(resource.kind, name, patch);
      return { apiVersion: ConfigMap.apiVersion, kind: resource.kind, metadata: { name } } as T;
    },
  };
  return client as KubernetesApi;
}

/** A token whose header names the key that signed it. */
export function tokenSignedBy(kid: string | undefined): string {
  return `${Buffer.from(JSON.stringify(kid === undefined ? {} : { kid })).toString('base64url')}.e30.`;
}

const keyWith = (kid: string) => ({ kid });

function metricsOf(hash: string | undefined): string {
  return hash === undefined ? '' : `apiserver_encryption_config_controller_last_config_info{hash="${hash}"} 1\n`;
}
