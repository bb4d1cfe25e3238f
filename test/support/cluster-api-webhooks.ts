import { until } from './until.ts';

/** Repeats a write that Cluster API's webhooks judge: on a busy machine its only pod may not answer for a moment. */
export async function onceWebhooksAnswer(write: () => Promise<unknown>): Promise<void> {
  await until('the webhooks of Cluster API to answer', () =>
    write().then(
      () => true,
      (error: unknown) => {
        if (!(error instanceof Error && error.message.includes('failed calling webhook'))) throw error;
        return false;
      },
    ),
  );
}
