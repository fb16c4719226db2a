/** The question before an order is sent: what is no answer is no. */
import { spawnSync } from 'node:child_process'
import { expect, test } from 'vitest'
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

test('who lost the daemon is told that the order may be accepted, how to look, and how to ask again', () => {
  const lines = askAgain('ab12').split('\n')
  expect(Math.max(...lines.map(({ length }) => length))).toBeLessThanOrEqual(80)
  expect(lines.join(' ')).toContain('may have accepted the command')
  expect(lines.join(' ')).toContain('check perpd orders')
  expect(lines.join(' ')).toContain('--id ab12')
})
