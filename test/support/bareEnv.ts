/** The environment of a process that shall see nothing of this one's but what starts it. */

/** Where programs are found, and where their modules lie compiled (vitest.config.ts): without the second each start compiles them anew. */
export function bareEnv(more: Readonly<Record<string, string>> = {}): NodeJS.ProcessEnv {
  const { PATH, NODE_COMPILE_CACHE } = process.env
  return { PATH, ...(NODE_COMPILE_CACHE === undefined ? {} : { NODE_COMPILE_CACHE }), ...more }
}
