/** Runs a command line in this process, and keeps what it wrote. */
import { main } from '../../src/cli/main.ts'

export interface Ran {
  readonly code: number
  readonly out: string
  readonly err: string
}

export async function perpd(
  cwd: string,
  argv: readonly string[],
  env: Record<string, string> = {},
): Promise<Ran> {
  const out: string[] = []
  const err: string[] = []
  const code = await main(argv, {
    env,
    cwd,
    out: (text) => void out.push(text),
    err: (text) => void err.push(text),
  })
  return { code, out: out.join('\n').replaceAll(cwd, 'CWD'), err: err.join('\n').replaceAll(cwd, 'CWD') }
}
