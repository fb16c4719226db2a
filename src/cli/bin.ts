#!/usr/bin/env -S MALLOC_ARENA_MAX=2 node --disable-sigusr1 --max-semi-space-size=8 --heap-growing-percent=25
/**
 * `perpd` as users start it. It is what an older Node still reads, so that Node's age is told in a line and not by a
 * stack trace; everything else is behind an import.
 */
const oldest = 24
const major = Number(process.versions.node.split('.')[0])

if (major < oldest) {
  process.stderr.write(
    `perpd needs Node ${oldest} or newer; this is Node ${process.versions.node} (${process.execPath}).\n  Nothing was started. Install a newer Node, or one beside perpd: npm install node@${oldest}, then npx perpd\n`,
  )
  process.exitCode = 1
} else {
  const { useCompileCache } = await import('./compileCache.ts')
  useCompileCache(process.env)
  const { runProcess } = await import('./main.ts')
  await runProcess()
}

export {}
