/** Examples of help texts are typed as they are shown: whole on a line, or continued as a shell takes it. */
import { execFileSync } from 'node:child_process'
import { expect, test } from 'vitest'
import { helpOf } from '../../src/cli/call/command.ts'
import { commands } from '../../src/cli/commandTable.ts'
import { fitted } from '../../src/cli/output/screen.ts'

test.each([40, 80])('every example is one command of a shell, at %i columns', (width) => {
  for (const command of commands) {
    const [, shown = ''] = fitted(helpOf(command), width).split('\nexamples:\n')
    const lines = shown.split('\n')
    for (const line of lines) if (!/["']/.test(line)) expect(line.length).toBeLessThanOrEqual(width)
    const whole = shown
      .replaceAll(/ \\\n {4}/g, ' ')
      .split('\n')
      .map((line) => line.slice(2))
    expect(whole).toEqual([...command.examples])
  }
})

test('a shell takes a continued example as its words', () => {
  const shown = fitted(`examples:\n  echo "ETH/USD [WETH-USDC]" long --size 100`, 40).split('\n').slice(1)
  expect(shown).toEqual(['  echo "ETH/USD [WETH-USDC]" long \\', '    --size 100'])
  const printed = execFileSync('sh', ['-c', shown.join('\n')], { encoding: 'utf8' })
  expect(printed).toBe('ETH/USD [WETH-USDC] long --size 100\n')
})
