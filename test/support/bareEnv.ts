/** The environment of a process that shall see nothing of this one's but what starts it. */

/**
 * Where programs are found, where their modules lie compiled (vitest.config.ts), and where perpd lies bundled (bundleProgram.ts): without the last
 * two each start finds and compiles a thousand modules anew.
 */
export function bareEnv(more: Readonly<Record<string, string>> = {}): NodeJS.ProcessEnv {
  const { PATH, NODE_COMPILE_CACHE, TEST_PROGRAM } = process.env
  return { PATH, NODE_COMPILE_CACHE, TEST_PROGRAM, ...more }
}
