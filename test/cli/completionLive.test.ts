/** Completion of names that the running daemon has, in the shells themselves: bash through its function, zsh in a terminal, fish by its own engine. */
import { execFile, spawnSync } from 'node:child_process'
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { loadConfig } from '../../src/config/loadConfig.ts'
import { type ControlServer, createControlServer } from '../../src/control/server.ts'
import { writeAddress } from '../../src/daemon/controlAddress.ts'
import { openTokens } from '../../src/daemon/ownFiles/controlTokens.ts'
import { shortDiscrepancyId } from '../../src/domain/accountRecords/discrepancyId.ts'
import { createMetrics } from '../../src/monitor/metrics/metrics.ts'
import { liveSubjects } from '../../src/operator/commandLine.ts'
import { access, engine, status } from '../control/door.ts'
import { perpd } from './run.ts'

const root = resolve(import.meta.dirname, '..', '..')
let cwd: string
let server: ControlServer
let leave: () => void
const discrepancyId = 'position:0xabc:long'
const [strategy] = status.strategies
const order = status.openIntents[0]?.state.intent.intentId.slice(0, 8) ?? ''
if (strategy === undefined || order === '') throw new Error('the sample has no strategy or no order')

/** A name that a shell must neither run nor split. */
const oddSymbol = 'ODD/USD [$(touch ran)-USDC]'

beforeAll(async () => {
  cwd = mkdtempSync(join(tmpdir(), 'perpd-names-'))
  const { config } = loadConfig({ argv: [], env: {}, cwd })
  const shown = {
    ...status,
    tasks: [
      { taskId: '3f2a77', kind: 'twap', asked: 'twap long ETH/USD', by: 'anna', sinceMs: status.nowMs },
    ],
    discrepancies: [
      {
        discrepancy: { discrepancyId, kind: 'position', statement: 'a position that\nnothing explains' },
        raisedAtMs: status.nowMs,
      },
    ],
  }
  server = await createControlServer({
    ...{ host: '127.0.0.1', port: 0, ...access, tokens: openTokens(config) },
    metrics: createMetrics({ version: '0.1.0', profile: 'paper', chain: 'arbitrum' }),
    health: { live: () => ({ ok: true, reasons: [] }), ready: () => ({ ok: true, reasons: [] }) },
    engine: {
      ...engine,
      status: () => shown as unknown as typeof status,
      markets: () =>
        Promise.resolve(
          ['ETH/USD [WETH-USDC]', oddSymbol].map((symbol) => ({ symbol, state: 'shipped' })) as never,
        ),
    },
  })
  leave = writeAddress(config, server.localUrl)
  mkdirSync(join(cwd, 'bin'))
  const program = join(cwd, 'bin', 'perpd')
  const source = process.env.TEST_PROGRAM || join(root, 'src', 'cli', 'main.ts')
  writeFileSync(program, `#!/bin/sh\nexec '${process.execPath}' '${source}' "$@"\n`)
  chmodSync(program, 0o755)
  for (const shell of ['bash', 'zsh', 'fish']) {
    writeFileSync(join(cwd, `perpd.${shell}`), (await perpd(cwd, ['completion', shell])).out)
  }
})
afterAll(async () => {
  leave()
  await server.close()
  rmSync(cwd, { recursive: true })
})

const has = (shell: string) => spawnSync(shell, ['-c', 'exit 0']).status === 0

/** Runs a shell while this process serves what it asks for. */
async function run(shell: string, argv: readonly string[]): Promise<string> {
  const env = { ...process.env, PATH: `${join(cwd, 'bin')}:${process.env.PATH}`, HOME: cwd, TERM: 'dumb' }
  const { stdout } = await promisify(execFile)(shell, argv, { cwd, env, encoding: 'utf8' })
  return stdout
}

const inBash = async (...words: string[]): Promise<readonly string[]> => {
  const script =
    // biome-ignore lint/suspicious/noTemplateCurlyInString: the shell's own
    'source perpd.bash; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _perpd; printf "%s\\n" "${COMPREPLY[@]}"'
  return (await run('bash', ['--norc', '-c', script, 'test', 'perpd', ...words])).split('\n').filter(Boolean)
}

const inFish = async (line: string): Promise<string> =>
  await run('fish', ['--no-config', '-c', `source perpd.fish; complete -C '${line}'`])

/** The line that completion makes of one at a terminal of zsh. */
const inZsh = async (line: string): Promise<string> => {
  const rc = `autoload -Uz compinit; compinit -u -D; source perpd.zsh
probe() { BUFFER='${line}'; CURSOR=$#BUFFER; zle expand-or-complete; print -r -- "<<$BUFFER>>"; exit }
zle -N probe; bindkey '^X' probe; unsetopt zle_bracketed_paste; PS1=READY`
  writeFileSync(join(cwd, '.zshrc'), rc)
  const script = `zmodload zsh/zpty
zpty -b shell "cd '${cwd}'; ZDOTDIR='${cwd}' zsh -d -i"
zpty -r shell out '*READY*'
zpty -w -n shell $'\\x18'
zpty -r shell out '*<<*>>*'
print -r -- "$out"`
  const out = await run('zsh', ['-f', '-c', script])
  return out.match(/<<(.*?)>>/s)?.[1] ?? out
}

test('without a daemon there are no names and no error, and each subject answers in a line of words', async () => {
  const empty = mkdtempSync(join(tmpdir(), 'perpd-nobody-'))
  try {
    for (const subject of liveSubjects)
      expect(await perpd(empty, ['completion', subject]), subject).toEqual({ code: 0, out: '', err: '' })
    writeFileSync(join(empty, 'perpd.json'), '{ broken')
    expect(await perpd(empty, ['completion', 'orders'])).toEqual({ code: 0, out: '', err: '' })
  } finally {
    rmSync(empty, { recursive: true })
  }
  const { out } = await perpd(cwd, ['completion', 'discrepancies'])
  expect(out).toBe(`${shortDiscrepancyId(discrepancyId)}\tposition: a position that nothing explains`)
})

test.skipIf(!has('bash'))(
  'bash offers what runs for each argument and flag that has a name of it',
  async () => {
    expect(await inBash('strategies', 'pause', '')).toContain(strategy.name)
    expect(await inBash('cancel', order.slice(0, 3))).toEqual([order])
    expect(await inBash('cancel', '--')).not.toContain(order)
    expect(await inBash('task', 'stop', '3')).toEqual(['3f2a77'])
    expect(await inBash('discrepancies', 'adopt', '')).toContain(shortDiscrepancyId(discrepancyId))
    expect(await inBash('logs', '--strategy', '')).toContain(strategy.name)
    expect(await inBash('open', 'ETH/')).toEqual(['ETH/USD\\ \\[WETH-USDC\\]'])
    expect(await inBash('open', '"ETH/')).toEqual(['ETH/USD [WETH-USDC]'])
    // Another profile has another daemon, which does not run.
    expect(await inBash('cancel', '--profile', 'arbitrum', order.slice(0, 3))).toEqual([])
  },
)

test.skipIf(!has('bash'))('a name is never run by the shell that completes it', async () => {
  expect(await inBash('open', 'ODD')).toEqual(['ODD/USD\\ \\[\\$\\(touch\\ ran\\)-USDC\\]'])
  expect(spawnSync('ls', [join(cwd, 'ran')]).status).not.toBe(0)
})

test.skipIf(!has('zsh'))('zsh completes names in a terminal, quoted as it quotes', async () => {
  expect(await inZsh(`perpd cancel ${order.slice(0, 3)}`)).toBe(`perpd cancel ${order} `)
  expect(await inZsh('perpd open ETH/')).toBe('perpd open ETH/USD\\ \\[WETH-USDC\\] ')
})

test.skipIf(!has('fish'))('fish completes names with what they are', async () => {
  expect(await inFish('perpd cancel ')).toContain(`${order}\t`)
  expect(await inFish('perpd logs --strategy ')).toContain(`${strategy.name}\t`)
  expect(await inFish('perpd open ETH/')).toContain('ETH/USD [WETH-USDC]\tshipped')
  expect(await inFish('perpd task stop ')).toContain('3f2a77\ttwap long ETH/USD')
})
