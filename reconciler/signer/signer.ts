import { fieldManager } from '../../constructs/api/group.ts';
import { kubeconfigSigner } from '../../constructs/api/kubeconfig-request.ts';
import { CertificateSigningRequest } from '../../constructs/api/resources.ts';
import { approval, type Decision, decisionPatch } from '../kube/certificate-request.ts';
import type { KubernetesApi } from '../kube/client.ts';
import type { Clock } from '../kube/clock.ts';
import { isNotFound } from '../kube/errors.ts';
import type { EventRecorder } from '../kube/events.ts';
import { Informer } from '../kube/informer.ts';
import { InformerSet } from '../kube/informer-set.ts';
import { type KubeObject, objectKey } from '../kube/object.ts';
import { WorkQueue } from '../kube/queue.ts';
import { kubeconfigSigned } from '../status/events.ts';
import type { Logger } from '../telemetry/log.ts';
import { answerTo, type Circumstances, type Signed } from './answer.ts';
import { isAnswered, kept, type ClientCertificateRequest } from './request.ts';

export interface SignerOptions extends Pick<Circumstances, 'management' | 'isOnly'> {
  readonly client: KubernetesApi;
  readonly clock: Clock;
  readonly log: Logger;
  readonly events: Pick<EventRecorder, 'record'>;
  readonly onError: (error: unknown) => void;
}

/**
 * Answers requests for client certificates of hosted clusters, which people create in the management cluster. They need neither the key
 * of a CA nor a right on Secrets.
 */
export class Signer {
  readonly #options: SignerOptions;
  readonly #known: InformerSet;
  readonly #queue: WorkQueue;

  constructor(options: SignerOptions) {
    this.#options = options;
    const { client, clock, log, onError } = options;
    const resource = CertificateSigningRequest;
    const fieldSelector = `spec.signerName=${kubeconfigSigner}`;
    this.#known = new InformerSet([new Informer({ client, clock, onError, resource, fieldSelector, keep: kept })]);
    this.#queue = new WorkQueue({
      process: (name) => this.#answer(name),
      concurrency: 1,
      clock,
      onError: (request, error) => log.warn({ request, error }, 'request for a kubeconfig not answered, retrying'),
    });
  }

  /** Answers the requests that wait, and then each new one. Resolves when those that wait are known. */
  async start(): Promise<void> {
    this.#known.onChange((_, { object }) => this.#queue.add(object.metadata.name));
    await this.#known.start();
  }

  /** Resolves when the answer that it is writing is written. */
  async stop(): Promise<void> {
    await this.#queue.stop();
    await this.#known.stop();
  }

  async #answer(name: string): Promise<void> {
    const request = this.#known.get(CertificateSigningRequest, { name }) as ClientCertificateRequest | undefined;
    if (!request || isAnswered(request)) return;
    const { client, clock, management, isOnly } = this.#options;
    const circumstances = { management, isOnly, reviewer: client, now: new Date(clock.now()) };
    const answer = await answerTo(request, circumstances);
    try {
      if (answer.kind === 'denied') await this.#deny(request, answer);
      if (answer.kind === 'signed') await this.#sign(request, answer.hostedControlPlane, answer.signed);
    } catch (error) {
      // Its creator has deleted it meanwhile.
      if (!isNotFound(error)) throw error;
    }
  }

  async #deny(
    request: ClientCertificateRequest,
    { reason, message }: Pick<Decision, 'reason' | 'message'>,
  ): Promise<void> {
    await this.#decide(decisionPatch(request, { type: 'Denied', reason, message }));
    const { username: requester } = request.spec;
    this.#options.log.info(
      { request: request.metadata.name, requester, reason, message },
      'request for a kubeconfig denied',
    );
  }

  async #sign(request: ClientCertificateRequest, hostedControlPlane: KubeObject, signed: Signed): Promise<void> {
    const { client, events, log } = this.#options;
    const { user, groups, notAfter, certificates } = signed;
    const { name, uid } = request.metadata;
    const { username: requester = '' } = request.spec;
    // If the operator ends between both writes, it decides again.
    await this.#decide(approval(request, `${requester} may have a certificate for ${user}`));
    const certificate = Buffer.from(certificates).toString('base64');
    const patch = { metadata: { uid }, status: { certificate } };
    const written = { fieldManager, subresource: 'status' };
    this.#remember(await client.mergePatch(CertificateSigningRequest, { name }, patch, written));
    const until = notAfter.toISOString();
    events.record(hostedControlPlane, kubeconfigSigned({ requester, user, groups, until, request: name }));
    log.info(
      { hostedControlPlane: objectKey(hostedControlPlane.metadata), request: name, requester, user, groups, until },
      'kubeconfig signed',
    );
  }

  async #decide(patch: KubeObject): Promise<void> {
    const { client } = this.#options;
    this.#remember(await client.apply(patch, { fieldManager, force: true, subresource: 'approval' }));
  }

  #remember(object: KubeObject): void {
    this.#known.remember(kept(object));
  }
}
