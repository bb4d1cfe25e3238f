import type { Resource } from '../../../constructs/api/resources.ts';
import { errorFromStatus, KubeError } from '../../../reconciler/kube/errors.ts';
import type { ObjectName } from '../../../reconciler/kube/object.ts';
import { describeTarget } from '../../../reconciler/kube/resource.ts';
import type { AuthorizedRequest, ResourceRequest } from './authorizer.ts';
import { type Path, stepsOf } from './leaves.ts';
import type { Owner } from './managed-fields.ts';
import type { User } from './users.ts';

/** The action and its object: `get Secret a/b`, as the client's messages begin. */
export function actionOf(verb: string, resource: Resource, target: Partial<ObjectName> & { subresource?: string }) {
  return `${verb} ${describeTarget(resource, target)}`;
}

export function notFound(action: string, { plural }: Pick<Resource, 'plural'>, name: string): KubeError {
  return errorFromStatus(action, 404, { reason: 'NotFound', message: `${plural} "${name}" not found` });
}

/** The server does not serve the resource. */
export function notServed(action: string): KubeError {
  return errorFromStatus(action, 404, {
    reason: 'NotFound',
    message: 'the server could not find the requested resource',
  });
}

export function alreadyExists(action: string, { plural }: Resource, name: string): KubeError {
  return errorFromStatus(action, 409, { reason: 'AlreadyExists', message: `${plural} "${name}" already exists` });
}

export function conflict(action: string, message: string): KubeError {
  return errorFromStatus(action, 409, { reason: 'Conflict', message });
}

/** As an API server says it; without a name for a list, and for a create by POST. */
export function forbidden(
  action: string,
  { name: user }: User,
  request: AuthorizedRequest,
  problem?: string,
): KubeError {
  const because = problem === undefined ? '' : `: ${problem}`;
  if ('path' in request) {
    const message = `forbidden: User "${user}" cannot ${request.verb} path "${request.path}"${because}`;
    return errorFromStatus(action, 403, { reason: 'Forbidden', message });
  }
  const { verb, group, resource, subresource, namespace } = request;
  const what = subresource ? `${resource}/${subresource}` : resource;
  const where = namespace === undefined ? 'at the cluster scope' : `in the namespace "${namespace}"`;
  return refused(
    action,
    request,
    `User "${user}" cannot ${verb} resource "${what}" in API group "${group}" ${where}${because}`,
  );
}

/** An admission plugin refuses the request. */
export function refused(
  action: string,
  { group, resource, name }: Pick<ResourceRequest, 'group' | 'resource' | 'name'>,
  why: string,
  causes: KubeError['causes'] = [],
): KubeError {
  const what = [resource, group].filter((part) => part !== '').join('.');
  const message = `${what}${name === undefined ? '' : ` "${name}"`} is forbidden: ${why}`;
  return errorFromStatus(action, 403, { reason: 'Forbidden', message, details: { causes } });
}

/** The server reports a resourceVersion in a create request as an internal error. */
export function notNew(action: string): KubeError {
  const message = 'resourceVersion should not be set on objects to be created';
  return errorFromStatus(action, 500, { reason: 'InternalError', message });
}

/** The uid in the request is not that of the stored object with this name. */
export function otherUid(action: string, uid: string): KubeError {
  const message = `metadata.uid: Invalid value: ${JSON.stringify(uid)}: field is immutable`;
  const causes = [{ reason: 'FieldValueInvalid', message, field: 'metadata.uid' }];
  return errorFromStatus(action, 422, { reason: 'Invalid', message, details: { causes } });
}

/** The request was handled, and the connection broke before its answer arrived. */
export function lostAnswer(action: string): KubeError {
  return new KubeError(`${action}: the answer is lost`, { code: 0, reason: 'Unreachable' });
}

interface OwnedByAnother {
  readonly owner: Pick<Owner, 'manager' | 'operation' | 'apiVersion' | 'time'>;
  readonly path: Path;
}

export function conflictOver(action: string, conflicts: readonly OwnedByAnother[]): KubeError {
  const causes = conflicts.map(({ owner, path }) => ({
    reason: 'FieldManagerConflict',
    message: `conflict with ${describeOwner(owner)}`,
    field: fieldOf(path),
  }));
  return errorFromStatus(action, 409, { reason: 'Conflict', message: 'apply failed', details: { causes } });
}

function describeOwner({ manager, operation, apiVersion, time = '' }: OwnedByAnother['owner']): string {
  return operation === 'Apply' ? `"${manager}"` : `"${manager}" using ${apiVersion} at ${time}`;
}

/** As messages write it: `.spec.containers[name="etcd"].image`. */
function fieldOf(path: Path): string {
  return stepsOf(path)
    .map((step) => {
      const text = step.slice(2);
      if (step.startsWith('f:')) return `.${text}`;
      if (step.startsWith('v:')) return `[=${text}]`;
      const keys: Record<string, unknown> = JSON.parse(text);
      return `[${Object.entries(keys)
        .map(([key, value]) => `${key}=${JSON.stringify(value)}`)
        .join(',')}]`;
    })
    .join('');
}
