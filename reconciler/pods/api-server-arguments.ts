import type { KubeObject } from '../kube/object.ts';

interface Workload extends KubeObject {
  readonly spec?: {
    readonly template?: {
      readonly spec?: { readonly containers?: readonly { readonly name: string; readonly args?: readonly string[] }[] };
    };
  };
}

/** The arguments of the API servers of a Deployment, by name without dashes; undefined if it has none. */
export function apiServerArguments(deployment: Workload | undefined): Readonly<Record<string, string>> | undefined {
  const containers = deployment?.spec?.template?.spec?.containers;
  const args = containers?.find(({ name }) => name === 'kube-apiserver')?.args;
  return args && Object.fromEntries(args.map(named));
}

/** `--name=value` */
function named(arg: string): [name: string, value: string] {
  const [name = '', ...value] = arg.replace(/^--/, '').split('=');
  return [name, value.join('=')];
}
