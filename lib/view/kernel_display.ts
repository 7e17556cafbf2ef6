/**
 * The little of the Deno Jupyter kernel's interface that views use.
 *
 * @module
 */

/** Sends a message to the front end. */
export type Broadcast = (
  type: string,
  content: Record<string, unknown>,
) => Promise<void>;

/**
 * The kernel's broadcast function.
 *
 * @returns The function, or undefined outside a Jupyter kernel.
 */
export function kernelBroadcast(): Broadcast | undefined {
  try {
    // Outside a kernel the mere access throws.
    const { jupyter } = Deno;
    return (type, content) => jupyter.broadcast(type, content);
  } catch {
    return undefined;
  }
}
