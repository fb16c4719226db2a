/** The question before an order is sent: what is no answer is no. */
import { spawnSync } from 'node:child_process'
import { expect, test } from 'vitest'
import { commands } from '../../src/cli/commandTable.ts'
import { askAgain } from '../../src/cli/verbs/manualOrderCommand.ts'

const module = new URL('../../src/cli/call/whoAsks.ts', import.meta.url).href

test('an input that ends in the place of an answer is no, without a stack', () => {
  const program = `const { confirm } = await import(${JSON.stringify(module)}); console.log(await confirm())`
  const asked = (input: string) =>
    spawnSync(process.execPath, ['--input-type=module', '-e', program], { input, encoding: 'utf8' })
  expect(asked('')).toMatchObject({ status: 0, stdout: 'false\n' })
  expect(asked('yes\n')).toMatchObject({ status: 0, stdout: 'true\n' })
  expect(asked('y\n')).toMatchObject({ status: 0, stdout: 'true\n' })
  expect(asked('ye\n')).toMatchObject({ status: 0, stdout: 'false\n' })
})

test('at a terminal the preview of a command that protects is shown and asked for; a script and --yes are sent as they stand', () => {
  const agreed = (
    isTerminal: boolean,
    flags: readonly string[],
    input: string,
    preview = '{ text: "a preview", isLooser: false }',
    mayLoosen = false,
  ) => {
    const program = `
      import tty from 'node:tty'
      import { syncBuiltinESMExports } from 'node:module'
      tty.isatty = () => ${isTerminal}
      syncBuiltinESMExports()
      const { isAgreed } = await import(${JSON.stringify(module)})
      const flags = new Map(${JSON.stringify(flags.map((flag) => [flag, true]))})
      const out = (text) => console.log(text)
      const err = (text) => console.log('err ' + text)
      console.log(await isAgreed({ flags, out, err }, async () => (${preview}), ${mayLoosen}).catch(({ message, exitCode }) => exitCode + ' ' + message))`
    return spawnSync(process.execPath, ['--input-type=module', '-e', program], { input, encoding: 'utf8' })
      .stdout
  }
  expect(agreed(true, [], 'y\n')).toBe('a preview\ntrue\n')
  expect(agreed(true, [], 'n\n')).toBe('a preview\nNothing was sent.\nfalse\n')
  expect(agreed(true, ['json'], '')).toBe('err a preview\nerr Nothing was sent.\nfalse\n')
  expect(agreed(true, ['yes'], '')).toBe('true\n')
  expect(agreed(true, ['dry-run'], '')).toBe('true\n')
  expect(agreed(false, [], '')).toBe('true\n')
  expect(agreed(true, [], '', 'undefined')).toBe('true\n')
  // A script that takes a stop away, or loosens it, says so; one that tightens or places it does not.
  const looser = '{ text: "a preview", isLooser: true }'
  expect(agreed(false, [], '', looser, true)).toMatch(/^1 a preview\nNo terminal to confirm .*--yes\n$/)
  expect(agreed(false, ['yes'], '', looser, true)).toBe('true\n')
  expect(agreed(false, [], '', '{ text: "a preview", isLooser: false }', true)).toBe('true\n')
  // A close is never held up, whatever its preview would be.
  expect(agreed(false, [], '', '(() => { throw new Error("asked") })()')).toBe('true\n')
})

test('what changes a stop or an order at rest is confirmed by its row', () => {
  const asking = commands.filter(({ asksNoScript }) => asksNoScript === true).map(({ name }) => name)
  expect(asking.toSorted()).toEqual(['move', 'protect'])
  for (const { name, flags } of commands) {
    if (asking.includes(name)) expect(flags.map((flag) => flag.name)).toContain('yes')
  }
})

test('who lost the daemon is told that the order may be accepted, how to look, and how to ask again', () => {
  const lines = askAgain('ab12').split('\n')
  expect(Math.max(...lines.map(({ length }) => length))).toBeLessThanOrEqual(80)
  expect(lines.join(' ')).toContain('may have accepted the command')
  expect(lines.join(' ')).toContain('check perpd orders')
  expect(lines.join(' ')).toContain('--id ab12')
})
