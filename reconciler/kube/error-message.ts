/** What was thrown, in words. Messages name what failed, so that no class or stack is needed beside them. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
