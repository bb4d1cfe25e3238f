import type { AuthorizedRequest } from '../memory-cluster/authorizer.ts';

/** What the operator was permitted to do, each kind of request once. */
export class UsedRights {
  readonly #requests = new Map<string, AuthorizedRequest>();

  readonly record = (request: AuthorizedRequest): void => {
    this.#requests.set(JSON.stringify(request), request);
  };

  get requests(): readonly AuthorizedRequest[] {
    return [...this.#requests.values()];
  }
}
