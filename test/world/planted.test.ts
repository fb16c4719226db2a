/** What another user of the machine put where an operator stands: real processes, real owners. Needs the right to give files away. */

import { once } from 'node:events'
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { killLeftOver, perpd } from './processes.ts'

/** Without this right nobody can make files of another user; test/keys/trustedPath.test.ts holds the rule then. */
const canGive = process.geteuid?.() === 0
const strategyModule = resolve(import.meta.dirname, '..', '..', 'src', 'strategy', 'strategy.ts')
const stranger = 54_321

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'perpd-planted-'))
  chmodSync(folder, 0o755)
})
afterEach(async () => {
  await killLeftOver()
  rmSync(folder, { recursive: true, force: true })
})

function write(name: string, text: string): string {
  const path = join(folder, name)
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, text)
  return path
}

const give = (...names: string[]): void => {
  for (const name of names) chownSync(join(folder, name), stranger, stranger)
}

const marker = (): string => `import { writeFileSync } from 'node:fs'
writeFileSync(${JSON.stringify(join(folder, 'it-ran'))}, '')
`
const kind = (imports = ''): string => `${imports}
import { defineStrategy, z } from ${JSON.stringify(strategyModule)}
export default defineStrategy({
  kind: 'mine', description: 'Wishes nothing.', opensPositions: false, params: z.strictObject({}),
  needs: () => ({ symbols: [] }), decide: () => [],
})
`

async function run(...argv: string[]) {
  const running = perpd(argv, { cwd: folder })
  return { code: await running.ended, said: running.said() }
}

const key = (): string[] => {
  writeFileSync(join(folder, 'key'), `0x${'2b'.repeat(32)}\n`, { mode: 0o600 })
  return [`--account.keyFile=${join(folder, 'key')}`, '--account.acceptRawKey']
}

/** Whether a planted strategy's code has run. */
const hasRun = (): boolean => existsSync(join(folder, 'it-ran'))

test.runIf(canGive)(
  'in another user’s folder no profile of his is read, and his strategy does not run',
  async () => {
    write('evil.ts', marker() + kind())
    write('evil.yaml', 'kind: ./evil.ts\n')
    write('config/arbitrum.json', JSON.stringify({ strategies: { paths: ['evil.yaml'] } }))
    const keys = key()
    chownSync(folder, stranger, stranger)
    give('evil.ts', 'evil.yaml', 'config', 'config/arbitrum.json')
    for (const command of ['check', 'run']) {
      const { code, said } = await run(command, '--profile', 'arbitrum', ...keys)
      expect([code, hasRun()]).toEqual([4, false])
      expect(said).toMatch(/config\/arbitrum\.json: not read: .* belongs to another user \(54321\)/)
    }
  },
)

test.runIf(canGive)(
  'his strategy does not run on paper either, nor what ours imports of his, by any way',
  async () => {
    write('mine.yaml', 'kind: ./mine.ts\n')
    write('mine.ts', kind())
    const checked = () => run('check', '--strategies.paths=mine.yaml')
    expect(await checked()).toMatchObject({ code: 0 })
    expect(await checked()).toMatchObject({ said: expect.stringContaining('mine') })

    give('mine.yaml')
    expect((await checked()).said).toMatch(/mine\.yaml: not read: .* belongs to another user/)
    chownSync(join(folder, 'mine.yaml'), 0, 0)

    const evil = write('his/evil.ts', marker())
    give('his', 'his/evil.ts')
    write('mid.ts', `import './his/evil.ts'\n`)
    symlinkSync('his/evil.ts', join(folder, 'near.ts'))
    write('old.cjs', `require('./his/evil.ts')\n`)
    write('node_modules/evil/package.json', '{"type":"module","exports":"./index.js"}')
    write('node_modules/evil/index.js', marker())
    give('node_modules/evil', 'node_modules/evil/index.js')
    const ways = [
      `import './his/evil.ts'`,
      `import ${JSON.stringify(evil)}`,
      `import './mid.ts'`,
      `import './near.ts'`,
      `import './old.cjs'`,
      `import 'evil'`,
      `await import('./his/' + 'evil.ts')`,
      `export * from './his/evil.ts'`,
    ]
    for (const [at, line] of ways.entries()) {
      write(`ways/way-${at}.yaml`, `kind: ../way-${at}.ts\n`)
      write(`way-${at}.ts`, kind(line))
    }
    const { code, said } = await run('check', '--strategies.paths=ways')
    expect([code, hasRun()]).toEqual([4, false])
    for (const at of ways.keys())
      expect(said).toMatch(
        new RegExp(
          `way-${at}.yaml:1:7: kind could not be loaded: way-${at}.ts: it imports .* belongs to another user \\(54321\\)`,
        ),
      )
    // What is ours is imported, from ours.
    write('mid.ts', `export const one: number = 1\n`)
    write(
      'mine.ts',
      kind(`import { one } from './mid.ts'\nimport { basename } from 'node:path'\nbasename(String(one))`),
    )
    expect(await checked()).toMatchObject({ code: 0 })
  },
  // Many commands, each of which starts the thread of the kind.
  240_000,
)

test.runIf(canGive)('a live journal, approval or token in another user’s folder is not used', async () => {
  const keys = key()
  mkdirSync(join(folder, 'var'))
  give('var')
  mkdirSync(join(folder, 'var', 'arbitrum'))
  const { code, said } = await run('check', '--profile', 'arbitrum', ...keys)
  expect(code).toBe(4)
  expect(said).toMatch(
    /journal\.path is .*, which is not used with real money: .*var belongs to another user/,
  )
  expect(said).toMatch(/account\.approvalFile is /)
  writeFileSync(join(folder, 'var', 'arbitrum', 'journal.sqlite'), 'planted')
  expect(await run('orders', '--profile', 'arbitrum', ...keys)).toMatchObject({ code: 4 })
  chownSync(join(folder, 'var'), 0, 0)
  rmSync(join(folder, 'var', 'arbitrum', 'journal.sqlite'))
  expect((await run('check', '--profile', 'arbitrum', ...keys)).said).not.toContain('is not used')
})

test.runIf(canGive)(
  'another user’s settings lead no command to his listener, and no token to him',
  async () => {
    const heard: string[] = []
    const listener = createServer((request, response) => {
      heard.push(`${request.method} ${request.url} ${request.headers.authorization ?? ''}`)
      response.end('{"ok":true,"statement":"done","kill":{"endedAtMs":1,"outcome":"done"}}')
    }).listen(0, '127.0.0.1')
    await once(listener, 'listening')
    const { port } = listener.address() as AddressInfo
    // The operator's own tokens, where the operator's daemon keeps them.
    const own = mkdtempSync(join(tmpdir(), 'perpd-own-'))
    const tokenFile = join(own, 'control.token')
    for (const path of [tokenFile, `${tokenFile}.read`])
      writeFileSync(path, `${'t'.repeat(43)}\n`, { mode: 0o600 })
    write('perpd.json', JSON.stringify({ control: { port, tokenFile } }))
    give('perpd.json')
    try {
      for (const command of [['kill'], ['status'], ['trading', 'active']]) {
        const { code, said } = await run(...command)
        expect([command, code]).toEqual([command, 4])
        expect(said).toMatch(/perpd\.json: not read: .* belongs to another user \(54321\)/)
      }
      // His file is gone and the words are ours: still nothing is sent where no daemon of ours said that it serves.
      rmSync(join(folder, 'perpd.json'))
      const said = await run('kill', `--control.port=${port}`, `--control.tokenFile=${tokenFile}`)
      expect([said.code, heard]).toEqual([3, []])
    } finally {
      listener.close()
      rmSync(own, { recursive: true })
    }
  },
)
