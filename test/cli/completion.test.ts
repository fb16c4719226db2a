/** `perpd completion`: what each shell that is installed completes with it. */
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { commands } from '../../src/cli/commandTable.ts'
import { marketSorts } from '../../src/cli/verbs/marketsCommand.ts'
import { perpd } from './run.ts'

let cwd: string
beforeEach(() => {
  cwd = mkdtempSync(join(tmpdir(), 'perpd-completion-'))
})
afterEach(() => rmSync(cwd, { recursive: true, force: true }))

const has = (shell: string) => spawnSync(shell, ['-c', 'exit 0']).status === 0

async function scriptOf(shell: string): Promise<string> {
  const { code, out } = await perpd(cwd, ['completion', shell])
  expect(code).toBe(0)
  const path = join(cwd, `perpd.${shell}`)
  writeFileSync(path, out)
  return path
}

test.skipIf(!has('bash'))('bash completes commands, flags and known values behind a real line', async () => {
  const path = await scriptOf('bash')
  const completed = (...words: string[]): string[] => {
    const { stdout, stderr, status } = spawnSync(
      'bash',
      [
        '--norc',
        '-c',
        // biome-ignore lint/suspicious/noTemplateCurlyInString: the shell's own
        'source "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _perpd; printf "%s\\n" "${COMPREPLY[@]}"',
        'test',
        path,
        'perpd',
        ...words,
      ],
      { cwd, encoding: 'utf8' },
    )
    expect([status, stderr]).toEqual([0, ''])
    return stdout.split('\n').filter((word) => word !== '')
  }
  expect(completed('')).toEqual([...new Set(commands.map(({ name }) => name.split(' ')[0])), 'help'])
  expect(completed('orde')).toEqual(['orders'])
  expect(completed('journal', '')).toEqual(['verify', 'export', 'compact', 'copy', 'accept-loss'])
  expect(completed('journal', 'export', '--s')).toEqual(['--since', '--signatures'])
  expect(completed('orders', '')).toEqual(
    expect.arrayContaining(['resolve', 'unwind', '--open', '--profile']),
  )
  expect(completed('orders', '--open', '--str')).toEqual(['--strategy'])
  expect(completed('orders', 'unwind', '--')).not.toContain('--open')
  expect(completed('logs', '--level', '')).toEqual(['debug', 'info', 'warn', 'error'])
  expect(completed('status', '--profile', 'pa')).toEqual(['paper'])
  expect(completed('init', '--kind', 'tr')).toEqual(['trend'])
  expect(completed('task', 'start', 'br')).toEqual(['bracket'])
  expect(completed('open', 'ET')).toEqual(['ETH'])
  expect(completed('open', 'ETH', 'lo')).toEqual(['long'])
  expect(completed('open', 'ETH', '')).toEqual(expect.arrayContaining(['long', 'short']))
  expect(completed('open', 'ETH', '')).not.toContain('BTC')
  expect(completed('open', '--size', '100', 'ET')).toEqual(['ETH'])
  expect(completed('open', '--risk.maxLeverage', '3', 'ETH', 'long', 'E')).toEqual([])
  expect(completed('markets', '--sort', '')).toEqual(Object.keys(marketSorts))
  expect(completed('trades', '--reason', 'l')).toEqual(['liquidation'])
  expect(completed('trading', 'halted', '--reason', 'l')).toEqual([])
  expect(completed('trading', 'h')).toEqual(['halted'])
  expect(completed('completion', 'f')).toEqual(['fish'])
  for (const { name, flags } of commands) {
    const told = completed(...name.split(' '), '--')
    for (const flag of flags) expect(told, name).toContain(`--${flag.name}`)
  }
})

test.skipIf(!has('zsh'))('zsh takes its script and has the function', async () => {
  const path = await scriptOf('zsh')
  const { stdout, stderr } = spawnSync(
    'zsh',
    ['-f', '-c', `autoload -Uz compinit; compinit -u -d ${cwd}/dump; source ${path}; print $_comps[perpd]`],
    { cwd, encoding: 'utf8' },
  )
  expect([stdout.trim(), stderr]).toEqual(['_perpd', ''])
})

test.skipIf(!has('fish'))('fish completes commands and flags with its script', async () => {
  const path = await scriptOf('fish')
  const { stdout, stderr } = spawnSync(
    'fish',
    ['--no-config', '-c', `source ${path}; complete -C 'perpd journal '; complete -C 'perpd logs --lev'`],
    { cwd, encoding: 'utf8' },
  )
  expect(stderr).toBe('')
  expect(stdout).toMatch(/^verify\t/m)
  expect(stdout).toMatch(/^--level\t/m)
})

test('a script has each flag of each command for every shell, and an unknown shell is answered with the nearest', async () => {
  for (const shell of ['zsh', 'fish']) {
    const { out } = await perpd(cwd, ['completion', shell])
    for (const { name } of commands) expect(out, name).toMatch(new RegExp(`'${name} \\\\?'`))
    expect(out).not.toContain('undefined')
  }
  const { code, err } = await perpd(cwd, ['completion', 'bahs'])
  expect([code, err]).toEqual([4, expect.stringContaining('Did you mean bash?')])
})
