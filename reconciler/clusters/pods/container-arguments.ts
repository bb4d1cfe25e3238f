import type { KubeObject } from '../../kube/object.ts';

/** The fields of a pod that say how its containers were started. */
export interface ContainerHost extends KubeObject {
  readonly spec?: { readonly containers?: readonly { readonly args?: readonly string[] }[] };
}

/** The value of an argument `--name=value` of any container of a pod; undefined if none has it. */
export function argumentOf(pod: ContainerHost | undefined, name: string): string | undefined {
  const prefix = `--${name}=`;
  const args = (pod?.spec?.containers ?? []).flatMap((container) => container.args ?? []);
  return args.findLast((arg) => arg.startsWith(prefix))?.slice(prefix.length);
}
