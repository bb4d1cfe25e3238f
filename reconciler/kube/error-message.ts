/** The message of a thrown value. Messages name what failed, so that no class or stack is needed. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
